(** Which noise rates a notion allows for an answer, what truncation does to monotone answers, and rounding. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Leeward Require Import Sums Laws Distance Privacy Geometric.
Import ListNotations.
Open Scope R_scope.

(** ** Independent noise on every coordinate of an answer *)

Fixpoint on_each (K : mechanism Z Z) (ys : list Z) : law (list Z) :=
  match ys with
  | [] => certain []
  | y :: ys => map_law (fun p => fst p :: snd p) (both_laws (K y) (on_each K ys))
  end.

(** The sum of a distance over the coordinates. *)
Fixpoint on_vectors (d : Z -> Z -> cost) (ys ys' : list Z) : cost :=
  match ys, ys' with
  | [], [] => Fin 0
  | y :: ys, y' :: ys' => (d y y' + on_vectors d ys ys')%cost
  | _, _ => Inf
  end.

Fixpoint product (K : mechanism Z Z) (ys zs : list Z) : R :=
  match ys, zs with
  | [], [] => 1
  | y :: ys, z :: zs => K y z * product K ys zs
  | _, _ => 0
  end.

Lemma on_each_at K ys zs : on_each K ys zs = product K ys zs.
Proof.
  revert zs. induction ys as [|y ys IH]; intros zs; cbn [on_each product].
  - destruct zs; [apply certain_at | apply certain_off; discriminate].
  - destruct zs as [|z zs].
    + simpl. apply Pr_none. intros p E. discriminate.
    + change (z :: zs) with ((fun p : Z * list Z => fst p :: snd p) (z, zs)). rewrite map_inj.
      * simpl. rewrite IH. reflexivity.
      * intros [z' zs'] E. simpl in E. congruence.
Qed.

Lemma product_nonneg K ys zs : 0 <= product K ys zs.
Proof. rewrite <- on_each_at. apply pmf_nonneg. Qed.

Theorem on_each_private d K : private d K -> private (on_vectors d) (on_each K).
Proof.
  intros H. pose proof (proj1 (private_decay _ _) H) as Hd. apply private_decay.
  intros ys ys' zs. rewrite !on_each_at. revert ys' zs.
  assert (N : forall ys zs, decay Inf * product K ys zs <= 0) by (intros; simpl; lra).
  induction ys as [|y ys IH]; intros [|y' ys'] zs; try (eapply Rle_trans; [apply N | apply product_nonneg]).
  - cbn [on_vectors]. rewrite decay_0. lra.
  - destruct zs as [|z zs]; cbn [on_vectors product]; [rewrite Rmult_0_r; lra|]. rewrite decay_plus.
    replace (_ * (_ * _)) with ((decay (d y y') * K y z) * (decay (on_vectors d ys ys') * product K ys zs)) by (simpl; ring).
    apply Rmult_le_compat; auto; apply Rmult_le_pos; apply decay_nonneg || apply pmf_nonneg || apply product_nonneg.
Qed.

(** How far an answer rises, and how far it falls, summed over its coordinates. *)
Fixpoint rise (ys ys' : list Z) : nat :=
  match ys, ys' with y :: ys, y' :: ys' => (up y y' + rise ys ys')%nat | _, _ => O end.

Definition fall (ys ys' : list Z) : nat := rise ys' ys.

Lemma line_vectors a b ys ys' : length ys = length ys' ->
  on_vectors (line a b) ys ys' = (times (rise ys ys') a + times (fall ys ys') b)%cost.
Proof.
  revert ys'. induction ys as [|y ys IH]; intros [|y' ys'] E; try discriminate.
  - simpl. f_equal. lra.
  - simpl in E. injection E as E. unfold fall in *. cbn [on_vectors rise]. rewrite IH, !times_plus by trivial.
    unfold line. generalize (times (up y y') a), (times (up y' y) b), (times (rise ys ys') a), (times (rise ys' ys) b).
    intros p q r s. destruct p, q, r, s; simpl; trivial. f_equal. lra.
Qed.

(** What other people contribute to the answer does not matter. *)
Fixpoint plus_vectors (v w : list Z) : list Z :=
  match v, w with x :: v, y :: w => (x + y)%Z :: plus_vectors v w | _, _ => [] end.

Theorem others_do_not_matter v w w' : length v = length w -> length v = length w' ->
  rise (plus_vectors v w) (plus_vectors v w') = rise w w'.
Proof.
  revert w w'. induction v as [|x v IH]; intros [|y w] [|y' w'] E E'; try discriminate; trivial.
  simpl. rewrite IH by (simpl in *; lia). f_equal. unfold up. f_equal. lia.
Qed.

(** ** The rule: rates are allowed iff every step can pay for what it moves *)

Section Rates.
Context {X : Type} (step_cost : X -> X -> cost) (f : X -> list Z) (a b : cost) (Ha : rate a) (Hb : rate b).
Context (same_length : forall x x', length (f x) = length (f x')).

Definition allowed : Prop := forall x x',
  (times (rise (f x) (f x')) a + times (fall (f x) (f x')) b <= step_cost x x')%cost.

Theorem rule_of_rates D : shortest step_cost D ->
  (allowed <-> private D (fun x => on_each (geometric a b Ha Hb) (f x))).
Proof.
  intros HD. rewrite <- (private_shortest _ _ _ HD). split; intros H.
  - apply (pull_back step_cost (on_vectors (line a b)) f (on_each (geometric a b Ha Hb))).
    + intros x x'. rewrite line_vectors by trivial. apply H.
    + apply on_each_private, geometric_private.
  - intros x x'. rewrite <- line_vectors by trivial.
    pose proof (proj1 (private_decay step_cost (fun x => on_each (geometric a b Ha Hb) (f x))) H x x' (f x)) as Hp.
    cbv beta in Hp. rewrite !on_each_at in Hp.
    assert (T : forall ys ys', length ys = length ys' ->
      0 < product (geometric a b Ha Hb) ys ys /\
      product (geometric a b Ha Hb) ys' ys =
        decay (on_vectors (line a b) ys ys') * product (geometric a b Ha Hb) ys ys).
    { clear - Ha Hb. induction ys as [|y ys IH]; intros [|y' ys'] E; try discriminate.
      - cbn [on_vectors product]. rewrite decay_0. lra.
      - simpl in E. injection E as E. destruct (IH ys' E) as [I1 I2]. cbn [product on_vectors]. rewrite I2, decay_plus, !geometric_at.
        rewrite (d_refl _ (line_hemimetric a b (rate_nonneg a Ha) (rate_nonneg b Hb))), decay_0.
        pose proof (normaliser_pos _ _ (rate_decay b Hb) (rate_decay a Ha)). split; [|ring].
        apply Rmult_lt_0_compat; lra. }
    destruct (T (f x) (f x') (same_length x x')) as [T1 T2]. rewrite T2 in Hp. apply Rmult_le_reg_r in Hp; trivial.
    destruct (step_cost x x') as [r|], (on_vectors (line a b) (f x) (f x')) as [s|]; simpl in *; trivial.
    + apply Rnot_lt_le. intros Hlt. assert (exp (- s) < exp (- r)) by (apply exp_increasing; lra). lra.
    + pose proof (exp_pos (- r)). lra.
Qed.

End Rates.

(** What the rule gives for counts of people at no more than [k] places each, when a step costs ε. *)

Lemma times_share k eps n : (0 < k)%nat -> 0 <= eps -> (n <= k)%nat -> (times n (Fin (eps / INR k)) <= Fin eps)%cost.
Proof.
  intros Hk He Hn. rewrite times_Fin. simpl. apply lt_INR in Hk. apply le_INR in Hn. simpl in Hk.
  replace (INR n * (eps / INR k)) with (eps * (INR n / INR k)) by (field; lra).
  rewrite <- (Rmult_1_r eps) at 2. apply Rmult_le_compat_l; trivial.
  apply Rmult_le_reg_r with (INR k); trivial. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(** Steps that only lower counts (addition-only, presence): rates ∞ and ε/k. *)
Theorem rates_one_way k eps ys ys' : (0 < k)%nat -> 0 <= eps -> rise ys ys' = O -> (fall ys ys' <= k)%nat ->
  (times (rise ys ys') Inf + times (fall ys ys') (Fin (eps / INR k)) <= Fin eps)%cost.
Proof. intros Hk He H0 H1. rewrite H0. cbn [times]. rewrite cost_0_plus. apply times_share; trivial. Qed.

(** Steps that lower counts or raise them, never both at once (unbounded differential privacy): ε/k both. *)
Theorem rates_either_way k eps ys ys' : (0 < k)%nat -> 0 <= eps ->
  (rise ys ys' = O /\ (fall ys ys' <= k)%nat) \/ ((rise ys ys' <= k)%nat /\ fall ys ys' = O) ->
  (times (rise ys ys') (Fin (eps / INR k)) + times (fall ys ys') (Fin (eps / INR k)) <= Fin eps)%cost.
Proof.
  intros Hk He [[H0 H1]|[H0 H1]].
  - rewrite H0. cbn [times]. rewrite cost_0_plus. apply times_share; trivial.
  - rewrite H1. cbn [times]. rewrite cost_plus_0. apply times_share; trivial.
Qed.

(** Steps that replace a record (bounded differential privacy): any a, b with k·(a + b) <= ε. *)
Theorem rates_both_ways k eps a b ys ys' : 0 <= a -> 0 <= b -> INR k * (a + b) <= eps ->
  (rise ys ys' <= k)%nat -> (fall ys ys' <= k)%nat ->
  (times (rise ys ys') (Fin a) + times (fall ys ys') (Fin b) <= Fin eps)%cost.
Proof.
  intros Ha Hb H H0 H1. rewrite !times_Fin. simpl. apply le_INR in H0, H1.
  assert (INR (rise ys ys') * a <= INR k * a) by (apply Rmult_le_compat_r; trivial).
  assert (INR (fall ys ys') * b <= INR k * b) by (apply Rmult_le_compat_r; trivial). lra.
Qed.

(** ** Truncation to at most k places is not monotone *)

Section Truncation.

(** A record is a list of distinct places; a step of *presence* takes visits away. *)
Definition fewer_visits (r r' : list nat) : Prop := NoDup r /\ NoDup r' /\ incl r' r.

Context (k : nat) (Hk : (1 <= k)%nat) (keep : list nat -> list nat).
Context (at_most_k : forall r, NoDup r -> (NoDup (keep r) /\ length (keep r) <= k)%nat).
Context (whole_if_short : forall r, NoDup r -> (length r <= k)%nat -> forall p, In p (keep r) <-> In p r).

(** Whatever is kept, some visit taken away makes another place's count rise. *)
Theorem truncation_not_monotone : exists r r' p, fewer_visits r r' /\ In p (keep r') /\ ~ In p (keep r).
Proof.
  set (r := seq 0 (S k)). assert (Hr : NoDup r) by apply seq_NoDup.
  assert (exists p, In p r /\ ~ In p (keep r)) as (p & Hp & Hn).
  { apply NNPP. intros N. assert (incl r (keep r)) as Hi.
    { intros p Hp. apply NNPP. intros Hq. apply N. eauto. }
    apply NoDup_incl_length in Hi; trivial. unfold r in Hi at 1. rewrite seq_length in Hi.
    destruct (at_most_k r Hr). lia. }
  assert (H1 : NoDup [p]) by (repeat constructor; simpl; tauto).
  exists r, [p], p. repeat split; trivial.
  - intros q [<-|[]]; trivial.
  - apply whole_if_short; simpl; [trivial | lia | tauto].
Qed.

Definition visits (p : nat) (r : list nat) : Z := if in_dec Nat.eq_dec p r then 1%Z else 0%Z.

(** So upward noise on truncated counts keeps no promise at all under presence: some output rules the cover out. *)
Theorem truncated_presence_breaks b (Hb : rate b) : exists r r' p, fewer_visits r r' /\
  Pr (geometric Inf b I Hb (visits p (keep r))) (fun z => z = 0%Z) > 0 /\
  Pr (geometric Inf b I Hb (visits p (keep r'))) (fun z => z = 0%Z) = 0.
Proof.
  destruct truncation_not_monotone as (r & r' & p & Hf & Hin & Hout). exists r, r', p.
  split; [exact Hf|]. unfold visits. destruct (in_dec _ p (keep r)); [tauto|]. destruct (in_dec _ p (keep r')); [|tauto].
  rewrite !(Pr_one _ _ 0%Z) by tauto. rewrite !geometric_at. split.
  - rewrite d_refl by (apply line_hemimetric; [exact I | apply rate_nonneg; trivial]). rewrite decay_0.
    pose proof (normaliser_pos _ _ (rate_decay b Hb) (rate_decay Inf I)). lra.
  - unfold line, up. change (Z.to_nat (1 - 0)) with 1%nat. cbn [times cost_plus decay]. ring.
Qed.

Corollary truncated_presence_has_no_price b (Hb : rate b) : forall eps, exists p r r',
  fewer_visits r r' /\ ~ at_most_factor (Pr (geometric Inf b I Hb (visits p (keep r))) (fun z => z = 0%Z)) (Fin eps)
                                         (Pr (geometric Inf b I Hb (visits p (keep r'))) (fun z => z = 0%Z)).
Proof.
  intros eps. destruct (truncated_presence_breaks b Hb) as (r & r' & p & Hf & H1 & H0). exists p, r, r'. split; trivial.
  simpl. rewrite H0. lra.
Qed.

(** Where people only go whole (addition-only), truncation is harmless: counts do not rise, and fall by at most k. *)
Theorem truncation_addition_only m r : NoDup r ->
  let counts := map (fun p => visits p (keep r)) (seq 0 m) in
  let nobody := map (fun _ => 0%Z) (seq 0 m) in
  rise counts nobody = O /\ (fall counts nobody <= k)%nat.
Proof.
  intros Hr counts nobody. destruct (at_most_k r Hr) as [Hn Hl]. unfold counts, nobody. clear counts nobody.
  assert (G : forall l, NoDup l -> rise (map (fun p => visits p (keep r)) l) (map (fun _ => 0%Z) l) = O /\
              fall (map (fun p => visits p (keep r)) l) (map (fun _ => 0%Z) l) =
              length (filter (fun p => if in_dec Nat.eq_dec p (keep r) then true else false) l)).
  { unfold fall. induction l as [|p l IH]; intros Hd; simpl; [split; reflexivity|]. inversion_clear Hd as [|? ? Hp Hd'].
    destruct (IH Hd') as [-> ->]. unfold visits. destruct (in_dec _ p (keep r)); simpl; split; reflexivity. }
  destruct (G (seq 0 m) (seq_NoDup _ _)) as [-> ->]. split; trivial.
  eapply Nat.le_trans; [|exact Hl]. apply NoDup_incl_length.
  - apply NoDup_filter, seq_NoDup.
  - intros p Hp. apply filter_In in Hp. destruct Hp as [_ Hp]. destruct (in_dec _ p (keep r)); [trivial | discriminate].
Qed.

End Truncation.

(** The first two of three places: taking a visit to 0 away makes the count of 2 rise. *)
Corollary truncation_witness : fewer_visits [0; 1; 2]%nat [1; 2]%nat /\
  firstn 2 [0; 1; 2]%nat = [0; 1]%nat /\ firstn 2 [1; 2]%nat = [1; 2]%nat.
Proof.
  repeat split; try reflexivity; try (repeat constructor; simpl; lia). intros p Hp. simpl in *. lia.
Qed.

(** ** Rounding p/q to a whole number *)

Definition half_up (p q : Z) : Z := ((2 * p + q) / (2 * q))%Z.

Definition half_even (p q : Z) : Z :=
  match (2 * (p mod q) ?= q)%Z with
  | Lt => p / q
  | Gt => p / q + 1
  | Eq => if Z.even (p / q) then p / q else p / q + 1
  end%Z.

Definition nearest (p q r : Z) : Prop := (2 * Z.abs (q * r - p) <= q)%Z.

Theorem half_up_nearest p q : (0 < q)%Z -> nearest p q (half_up p q).
Proof.
  intros Hq. unfold nearest, half_up. pose proof (Z.div_mod (2 * p + q) (2 * q) ltac:(lia)).
  pose proof (Z.mod_pos_bound (2 * p + q) (2 * q) ltac:(lia)). lia.
Qed.

Theorem half_even_nearest p q : (0 < q)%Z -> nearest p q (half_even p q).
Proof.
  intros Hq. unfold nearest, half_even. pose proof (Z.div_mod p q ltac:(lia)). pose proof (Z.mod_pos_bound p q ltac:(lia)).
  destruct (Z.compare_spec (2 * (p mod q)) q); [destruct (Z.even (p / q))| |]; lia.
Qed.

(** Half up: whole steps in, whole steps out, so a sensitivity is kept in either direction. *)
Theorem half_up_keeps p p' q k : (0 < q)%Z -> (0 <= k)%Z -> (p <= p' <= p + k * q)%Z ->
  (half_up p q <= half_up p' q <= half_up p q + k)%Z.
Proof.
  intros Hq Hk H. unfold half_up. split.
  - apply Z.div_le_mono; lia.
  - replace ((2 * p + q) / (2 * q) + k)%Z with ((2 * (p + k * q) + q) / (2 * q))%Z.
    + apply Z.div_le_mono; lia.
    + replace (2 * (p + k * q) + q)%Z with (2 * p + q + k * (2 * q))%Z by ring. apply Z.div_add. lia.
Qed.

(** Half to even: one step in, two steps out, so noise made for one step costs twice as much. *)
Theorem half_even_doubles : exists p p' q, (0 < q)%Z /\ (p' = p + q)%Z /\ (half_even p' q = half_even p q + 2)%Z /\
  forall eps, line (Fin eps) (Fin eps) (half_even p q) (half_even p' q) = Fin (2 * eps).
Proof.
  exists 1%Z, 3%Z, 2%Z. repeat split. intros eps. unfold line, up.
  change (half_even 3 2) with 2%Z. change (half_even 1 2) with 0%Z. simpl. f_equal. ring.
Qed.
