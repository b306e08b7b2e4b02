(** The directed geometric law on the integers: one rate for each direction, one of them possibly ∞. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Leeward Require Import Sums Laws Distance Privacy.
Import ListNotations.
Open Scope R_scope.

(** A rate is above 0, and may be ∞. *)
Definition rate (s : cost) : Prop := match s with Fin r => 0 < r | Inf => True end.

Lemma rate_nonneg s : rate s -> (0 <= s)%cost.
Proof. destruct s; simpl; trivial. lra. Qed.

Lemma rate_decay s : rate s -> 0 <= decay s < 1.
Proof.
  destruct s as [r|]; simpl; [|lra]. intros H. split; [left; apply exp_pos|].
  rewrite <- exp_0. apply exp_increasing. lra.
Qed.

(** ** The noise *)

(** The weight of [k]: α^k upwards, β^|k| downwards. *)
Definition weight (al be : R) (k : Z) : R := if (0 <=? k)%Z then al ^ Z.to_nat k else be ^ Z.to_nat (- k).

(** What makes the weights sum to 1. *)
Definition normaliser (al be : R) : R := (1 - al) * (1 - be) / (1 - al * be).

Section Noise.
Context (al be : R) (Ha : 0 <= al < 1) (Hb : 0 <= be < 1).

Lemma product_below_1 : 0 < 1 - al * be.
Proof. assert (al * be <= 1 * be) by (apply Rmult_le_compat_r; lra). lra. Qed.

Lemma normaliser_pos : 0 < normaliser al be.
Proof. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra | apply Rinv_0_lt_compat, product_below_1]. Qed.

Lemma weight_nonneg k : 0 <= weight al be k.
Proof. unfold weight. destruct (0 <=? k)%Z; apply pow_le; lra. Qed.

(** The tails: from [j >= 0] upwards, and from [-j] downwards. *)
Lemma weight_from j : sum_over (fun k => (Z.of_nat j <= k)%Z) (weight al be) (al ^ j / (1 - al)).
Proof.
  apply (sum_image (fun n => Z.of_nat (j + n)) everything).
  - intros b b' _ _ E. lia.
  - intros k. split.
    + intros Hk. exists (Z.to_nat (k - Z.of_nat j)). split; [exact I | lia].
    + intros (n & _ & <-). lia.
  - eapply sum_ext; [intros; reflexivity| |apply sum_geometric; lra]. intros n _. unfold weight.
    destruct (Z.leb_spec 0 (Z.of_nat (j + n))); [|lia]. rewrite Nat2Z.id. reflexivity.
Qed.

Lemma weight_to j : (1 <= j)%nat -> sum_over (fun k => (k <= - Z.of_nat j)%Z) (weight al be) (be ^ j / (1 - be)).
Proof.
  intros Hj. apply (sum_image (fun n => - Z.of_nat (j + n))%Z everything).
  - intros b b' _ _ E. lia.
  - intros k. split.
    + intros Hk. exists (Z.to_nat (- k - Z.of_nat j)). split; [exact I | lia].
    + intros (n & _ & <-). lia.
  - eapply sum_ext; [intros; reflexivity| |apply sum_geometric; lra]. intros n _. unfold weight.
    destruct (Z.leb_spec 0 (- Z.of_nat (j + n))); [lia|]. f_equal. lia.
Qed.

Lemma weight_sum : sum_over everything (weight al be) (/ normaliser al be).
Proof.
  assert (E : / normaliser al be = al ^ 0 / (1 - al) + be ^ 1 / (1 - be)).
  { unfold normaliser. pose proof product_below_1. simpl. field. repeat split; lra. }
  rewrite E. eapply sum_ext; [| |apply sum_disjoint; [|apply (weight_from 0)|apply (weight_to 1); lia]].
  - intros k. unfold everything. simpl. split; trivial. intros _. lia.
  - intros; reflexivity.
  - simpl. intros. lia.
Qed.

(** *** It sums to 1 *)
Definition noise : law Z.
Proof.
  exists (fun k => normaliser al be * weight al be k).
  - intros k. apply Rmult_le_pos; [left; apply normaliser_pos | apply weight_nonneg].
  - rewrite <- (Rinv_r (normaliser al be)) by (pose proof normaliser_pos; lra).
    apply sum_scal; [left; apply normaliser_pos | apply weight_sum].
Defined.

Theorem noise_sums_to_1 : sum_over everything (fun k => normaliser al be * weight al be k) 1.
Proof. exact (pmf_sum noise). Qed.

Lemma noise_at k : noise k = normaliser al be * weight al be k.
Proof. reflexivity. Qed.

(** *** Its tails *)
Lemma noise_at_least j : (0 <= j)%Z -> Pr noise (fun k => (j <= k)%Z) = (1 - be) * al ^ Z.to_nat j / (1 - al * be).
Proof.
  intros Hj. apply Pr_is. pose proof product_below_1.
  replace (_ / _) with (normaliser al be * (al ^ Z.to_nat j / (1 - al))) by (unfold normaliser; field; lra).
  apply sum_scal; [left; apply normaliser_pos|]. pose proof (weight_from (Z.to_nat j)) as H1.
  rewrite Z2Nat.id in H1 by trivial. trivial.
Qed.

Lemma noise_at_most j : (j < 0)%Z -> Pr noise (fun k => (k <= j)%Z) = (1 - al) * be ^ Z.to_nat (- j) / (1 - al * be).
Proof.
  intros Hj. apply Pr_is. pose proof product_below_1.
  replace (_ / _) with (normaliser al be * (be ^ Z.to_nat (- j) / (1 - be))) by (unfold normaliser; field; lra).
  apply sum_scal; [left; apply normaliser_pos|]. pose proof (weight_to (Z.to_nat (- j))) as H1.
  rewrite Z2Nat.id, Z.opp_involutive in H1 by lia. apply H1. lia.
Qed.

Lemma noise_at_most_nonneg j : (-1 <= j)%Z ->
  Pr noise (fun k => (k <= j)%Z) = 1 - (1 - be) * al ^ Z.to_nat (j + 1) / (1 - al * be).
Proof.
  intros Hj. rewrite <- (noise_at_least (j + 1)) by lia. rewrite <- Pr_not. apply Pr_ext; trivial. intros; lia.
Qed.

End Noise.

(** ** The directed line *)

Definition up (y y' : Z) : nat := Z.to_nat (y' - y).

(** Line(rise = a, fall = b): d(y -> y') = a·(y' - y)⁺ + b·(y - y')⁺. *)
Definition line (a b : cost) (y y' : Z) : cost := (times (up y y') a + times (up y' y) b)%cost.

Theorem line_hemimetric a b : (0 <= a)%cost -> (0 <= b)%cost -> hemimetric (line a b).
Proof.
  intros Ha Hb. split; unfold line, up.
  - intros. apply cost_plus_nonneg; apply times_nonneg; trivial.
  - intros y. rewrite Z.sub_diag. simpl. f_equal. lra.
  - intros x y z.
    apply cost_le_trans with
      (times (Z.to_nat (y - x) + Z.to_nat (z - y)) a + times (Z.to_nat (y - z) + Z.to_nat (x - y)) b)%cost.
    + apply cost_plus_le; apply times_le; trivial; lia.
    + rewrite !times_plus. generalize (times (Z.to_nat (y - x)) a), (times (Z.to_nat (z - y)) a),
        (times (Z.to_nat (y - z)) b), (times (Z.to_nat (x - y)) b).
      intros p q r s. destruct p, q, r, s; simpl; trivial. lra.
Qed.

(** The noise that takes the truth [y] to the output [z] has the weight e^{-d(z -> y)}: upwards the rate of a fall. *)
Lemma weight_line a b y z : weight (decay b) (decay a) (z - y) = decay (line a b z y).
Proof.
  unfold weight, line, up. rewrite decay_plus, !decay_times.
  destruct (Z.leb_spec 0 (z - y)).
  - replace (Z.to_nat (y - z)) with O by lia. simpl. lra.
  - replace (Z.to_nat (z - y)) with O by lia. simpl. rewrite Rmult_1_r. f_equal. lia.
Qed.

(** The Laplace mechanism of any directed distance (d-privacy, Definition 6 and Fact 7, with a direction): a density
    λ(z)·e^{-d(z -> y)} is d-private, provided that λ does not depend on the truth [y]. *)
Theorem laplace_private {Y A} (d : Y -> Y -> cost) (to : A -> Y) (lambda : A -> R) (K : mechanism Y A) :
  (forall x y z, (d x z <= d x y + d y z)%cost) -> (forall z, 0 <= lambda z) ->
  (forall y z, K y z = lambda z * decay (d (to z) y)) -> private d K.
Proof.
  intros Hd Hl HK. apply private_decay. intros y y' z. rewrite !HK.
  rewrite (Rmult_comm (decay _)), Rmult_assoc. apply Rmult_le_compat_l; trivial.
  rewrite <- decay_plus. apply decay_le, Hd.
Qed.

Section Geometric.
Context (a b : cost) (Ha : rate a) (Hb : rate b).

(** The geometric mechanism on the line: upward noise of rate [b], the cost of a fall; downward noise of rate [a]. *)
Definition geometric : mechanism Z Z := fun y =>
  map_law (fun k => (y + k)%Z) (noise (decay b) (decay a) (rate_decay b Hb) (rate_decay a Ha)).

Lemma geometric_at y z : geometric y z = normaliser (decay b) (decay a) * decay (line a b z y).
Proof.
  unfold geometric. replace z with (y + (z - y))%Z at 1 by lia. rewrite map_inj by lia.
  rewrite noise_at, weight_line. reflexivity.
Qed.

Lemma Pr_geometric y (Z : Z -> Prop) :
  Pr (geometric y) Z = Pr (noise (decay b) (decay a) (rate_decay b Hb) (rate_decay a Ha)) (fun k => Z (y + k)%Z).
Proof. apply Pr_map. Qed.

(** *** Private on Line(a, b), for all rates *)
Theorem geometric_private : private (line a b) geometric.
Proof.
  apply (laplace_private (line a b) (fun z => z) (fun _ => normaliser (decay b) (decay a))).
  - apply line_hemimetric; apply rate_nonneg; trivial.
  - intros _. left. apply normaliser_pos; apply rate_decay; trivial.
  - apply geometric_at.
Qed.

(** *** Tight: for any two truths some output attains the bound, so no smaller distance will do *)
Theorem geometric_tight y y' : exists z, 0 < geometric y z /\ geometric y' z = decay (line a b y y') * geometric y z.
Proof.
  exists y. rewrite !geometric_at. pose proof (normaliser_pos _ _ (rate_decay b Hb) (rate_decay a Ha)).
  assert (E : line a b y y = Fin 0) by (apply line_hemimetric; apply rate_nonneg; trivial). rewrite E, decay_0. split; lra.
Qed.

Theorem geometric_needs d : private d geometric -> forall y y', (line a b y y' <= d y y')%cost.
Proof.
  intros H y y'. destruct (geometric_tight y y') as (z & Hz & E).
  pose proof (proj1 (private_decay d geometric) H y y' z) as Hp. rewrite E in Hp.
  apply Rmult_le_reg_r in Hp; trivial.
  destruct (d y y') as [r|], (line a b y y') as [s|]; simpl in *; trivial.
  - apply Rnot_lt_le. intros Hlt. assert (exp (- s) < exp (- r)) by (apply exp_increasing; lra). lra.
  - pose proof (exp_pos (- r)). lra.
Qed.

(** *** Clamping to public bounds keeps the promise *)
Definition clamp (lower upper : option Z) (z : Z) : Z :=
  let z := match lower with Some l => Z.max l z | None => z end in
  match upper with Some u => Z.min u z | None => z end.

Definition clamped lower upper : mechanism Z Z := fun y => map_law (clamp lower upper) (geometric y).

Theorem clamped_private lower upper : private (line a b) (clamped lower upper).
Proof. unfold clamped. apply post_processing, geometric_private. Qed.

End Geometric.

(** *** On a grid of step q: rates per unit of the answer become rates per step *)
Lemma times_scale q n x : 0 < q -> times n (scale q x) = scale q (times n x).
Proof.
  intros Hq. induction n as [|n IH]; cbn [times]; [simpl; f_equal; ring|]. rewrite IH.
  destruct x as [r|]; [destruct (times n (Fin r)); simpl; trivial; f_equal; ring | reflexivity].
Qed.

Lemma line_step q a b y y' : 0 < q -> line (scale q a) (scale q b) y y' = scale q (line a b y y').
Proof.
  intros Hq. unfold line. rewrite !times_scale by trivial.
  destruct (times _ a), (times _ b); simpl; trivial. f_equal. ring.
Qed.

Theorem grid_private q a b (Ha : rate (scale q a)) (Hb : rate (scale q b)) : 0 < q ->
  private (fun y y' => scale q (line a b y y')) (geometric (scale q a) (scale q b) Ha Hb).
Proof.
  intros Hq. eapply private_monotone; [|apply geometric_private]. intros y y'. rewrite line_step by trivial.
  apply cost_le_refl.
Qed.

(** ** Upward and downward answers to the same question, side by side, promise nothing about any two truths *)
Theorem up_and_down_protect_nothing a b y y' : y <> y' -> distance_plus (line Inf b) (line a Inf) y y' = Inf.
Proof.
  intros H. unfold distance_plus, line, up.
  destruct (Z.to_nat (y' - y)) as [|n] eqn:E1, (Z.to_nat (y - y')) as [|m] eqn:E2; try lia.
  - replace (times (S m) Inf) with Inf by (simpl; destruct (times m Inf); trivial).
    destruct (times (S m) b); reflexivity.
  - replace (times (S n) Inf) with Inf by (simpl; destruct (times n Inf); trivial). reflexivity.
Qed.

(** ** Drawing again until in range, instead of clamping, breaks the promise: its normaliser depends on the truth *)

Definition in_range (n z : Z) : bool := andb (0 <=? z)%Z (z <=? n)%Z.

Section Resampled.
Context (a b : cost) (Ha : rate a) (Hb : rate b) (n : Z).

Definition answer := {y : Z | (0 <= y <= n)%Z}.

Lemma hits_range (y : answer) : 0 < Pr (geometric a b Ha Hb (proj1_sig y)) (fun z => in_range n z = true).
Proof.
  destruct y as [y Hy]. cbn [proj1_sig]. apply Rlt_le_trans with (geometric a b Ha Hb y y).
  - rewrite geometric_at. apply Rmult_lt_0_compat; [apply normaliser_pos; apply rate_decay; trivial|].
    rewrite d_refl by (apply line_hemimetric; apply rate_nonneg; trivial). rewrite decay_0. lra.
  - apply pmf_le_Pr. unfold in_range. destruct (Z.leb_spec 0 y), (Z.leb_spec y n); trivial; lia.
Qed.

Definition resampled : mechanism answer Z := fun y => given (geometric a b Ha Hb (proj1_sig y)) (in_range n) (hits_range y).

Lemma resampled_at y l z : NoDup l -> (forall k, (0 <= k <= n)%Z <-> In k l) -> In z l ->
  resampled y z = decay (line a b z (proj1_sig y)) / total (fun k => decay (line a b k (proj1_sig y))) l.
Proof.
  intros Hn Hl Hz. pose proof (normaliser_pos _ _ (rate_decay b Hb) (rate_decay a Ha)) as HN. cbn [resampled given pmf].
  assert (R : forall k, in_range n k = true <-> In k l).
  { intros k. rewrite <- Hl. unfold in_range. destruct (Z.leb_spec 0 k), (Z.leb_spec k n); simpl; split; trivial; lia || discriminate. }
  rewrite (proj2 (R z) Hz).
  assert (E : Pr (geometric a b Ha Hb (proj1_sig y)) (fun k => in_range n k = true) =
    normaliser (decay b) (decay a) * total (fun k => decay (line a b k (proj1_sig y))) l).
  { rewrite (Pr_list _ _ l) by trivial. rewrite <- total_scal. apply total_ext. intros; apply geometric_at. }
  pose proof (hits_range y) as Hp. rewrite E in *.
  assert (total (fun k => decay (line a b k (proj1_sig y))) l <> 0) by (intros E0; rewrite E0 in Hp; lra).
  rewrite geometric_at. field. lra.
Qed.

End Resampled.

(** Two-sided noise on 0..2: between the truths 0 and 1 the output 0 costs more than ε, at every ε. At ε = ln 2 its
    probabilities are 4/7 and 1/4, whose quotient is 16/7 and not 2. *)
Theorem resampling_two_sided eps (H : rate (Fin eps)) :
  let q := exp (- eps) in
  exists y y' : answer 2, line (Fin eps) (Fin eps) (proj1_sig y) (proj1_sig y') = Fin eps /\
    resampled (Fin eps) (Fin eps) H H 2 y 0%Z = 1 / (1 + q + q ^ 2) /\
    resampled (Fin eps) (Fin eps) H H 2 y' 0%Z = q / (1 + 2 * q) /\
    resampled (Fin eps) (Fin eps) H H 2 y 0%Z > exp eps * resampled (Fin eps) (Fin eps) H H 2 y' 0%Z.
Proof.
  intros q. assert (Hq : 0 < q < 1) by (pose proof (rate_decay _ H); pose proof (exp_pos (- eps)); unfold q in *; simpl in *; lra).
  assert (H0 : (0 <= 0 <= 2)%Z) by lia. assert (H1 : (0 <= 1 <= 2)%Z) by lia.
  exists (exist _ 0%Z H0), (exist _ 1%Z H1).
  assert (L : forall y z, decay (line (Fin eps) (Fin eps) z y) = q ^ Z.to_nat (Z.abs (z - y))).
  { intros y z. rewrite <- weight_line. unfold weight. simpl decay. fold q.
    destruct (Z.leb_spec 0 (z - y)); f_equal; lia. }
  assert (Hn : NoDup [0; 1; 2]%Z) by (repeat constructor; simpl; lia).
  assert (Hl : forall k, (0 <= k <= 2)%Z <-> In k [0; 1; 2]%Z) by (intros k; simpl; lia).
  split; [|split; [|split]].
  - unfold line, up. simpl. f_equal. lra.
  - rewrite (resampled_at _ _ _ _ _ _ _ 0%Z Hn Hl) by (simpl; tauto). cbn [total proj1_sig]. rewrite !L.
    simpl. field. nra.
  - rewrite (resampled_at _ _ _ _ _ _ _ 0%Z Hn Hl) by (simpl; tauto). cbn [total proj1_sig]. rewrite !L.
    simpl. field. nra.
  - rewrite !(resampled_at _ _ _ _ _ _ _ 0%Z Hn Hl) by (simpl; tauto). cbn [total proj1_sig]. rewrite !L.
    simpl. replace (exp eps) with (/ q) by (unfold q; rewrite exp_Ropp, Rinv_inv; trivial).
    apply Rlt_gt, Rminus_gt_0_lt.
    replace (_ - _) with ((q - q ^ 2) / ((1 + q + q ^ 2) * (1 + 2 * q))) by (field; nra).
    apply Rdiv_lt_0_compat; nra.
Qed.

Corollary resampling_two_sided_breaks eps (H : rate (Fin eps)) :
  ~ private (fun y y' => line (Fin eps) (Fin eps) (proj1_sig y) (proj1_sig y')) (resampled (Fin eps) (Fin eps) H H 2).
Proof.
  intros P. destruct (resampling_two_sided eps H) as (y & y' & E & _ & _ & G).
  pose proof (proj1 (private_pointwise _ _) P y y' 0%Z) as B. cbv beta in B. rewrite E in B. simpl in B. simpl in G. lra.
Qed.

(** Upward noise on 0..1: the truth 1 always gives 1, and the truth 0 gives it with probability q/(1 + q): the loss is
    ε + ln(1 + e^-ε), 1.313 at ε = 1. *)
Theorem resampling_one_sided eps (H : rate (Fin eps)) :
  let q := exp (- eps) in
  exists y y' : answer 1, line Inf (Fin eps) (proj1_sig y) (proj1_sig y') = Fin eps /\
    resampled Inf (Fin eps) I H 1 y 1%Z = exp (eps + ln (1 + q)) * resampled Inf (Fin eps) I H 1 y' 1%Z /\
    resampled Inf (Fin eps) I H 1 y' 1%Z = q / (1 + q).
Proof.
  intros q. assert (Hq : 0 < q < 1) by (pose proof (rate_decay _ H); pose proof (exp_pos (- eps)); unfold q in *; simpl in *; lra).
  assert (H0 : (0 <= 0 <= 1)%Z) by lia. assert (H1 : (0 <= 1 <= 1)%Z) by lia.
  exists (exist _ 1%Z H1), (exist _ 0%Z H0).
  assert (L : forall y z, decay (line Inf (Fin eps) z y) = weight q 0 (z - y)) by (intros; rewrite <- weight_line; reflexivity).
  assert (Hn : NoDup [0; 1]%Z) by (repeat constructor; simpl; lia).
  assert (Hl : forall k, (0 <= k <= 1)%Z <-> In k [0; 1]%Z) by (intros k; simpl; lia).
  split; [|split].
  - unfold line, up. simpl. f_equal. lra.
  - rewrite !(resampled_at _ _ _ _ _ _ _ 1%Z Hn Hl) by (simpl; tauto). cbn [total proj1_sig]. rewrite !L.
    rewrite exp_plus, exp_ln by lra.
    replace (exp eps) with (/ q) by (unfold q; rewrite exp_Ropp, Rinv_inv; trivial).
    unfold weight. simpl. field. lra.
  - rewrite !(resampled_at _ _ _ _ _ _ _ 1%Z Hn Hl) by (simpl; tauto). cbn [total proj1_sig]. rewrite !L.
    unfold weight. simpl. field. lra.
Qed.
