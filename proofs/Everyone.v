(** Bounds on all who were at a place, where a person counts at no more than k places: the noisy counts, and a noisy bound on how
    many were left out at any one place, which is added to each of them. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Coq Require FinFun.
From Leeward Require Import Sums Laws Distance Privacy Geometric Decisions Sensitivity.
Import ListNotations.
Open Scope R_scope.

(** ** Sums over finitely many outputs, and events about two draws *)

Lemma sum_list {A} (f : A -> R) l : NoDup l -> (forall a, 0 <= f a) -> (forall a, ~ In a l -> f a = 0) ->
  sum_over everything f (total f l).
Proof.
  intros Hn Hf H0. apply sum_intro.
  - intros m [Hm _]. destruct (split_by (fun a => In a l) m) as (m1 & m2 & Et & HN & I1 & I2). rewrite Et.
    rewrite (total_ext f (fun _ => 0 * 0) m2), total_scal.
    + assert (total f m1 <= total f l); [|lra]. apply total_incl; [trivial | tauto|]. intros a Ha. apply I1; trivial.
    + intros a Ha. rewrite H0; [lra|]. apply I2; trivial.
  - intros e He. exists l. split; [split; [trivial | intros; exact I] | lra].
Qed.

Lemma Pr_zero {A} (p : law A) (Z : A -> Prop) : (forall a, Z a -> p a = 0) -> Pr p Z = 0.
Proof.
  intros H. destruct (Pr_nonneg p Z) as [L|L]; [|symmetry; trivial]. destruct (Pr_positive p Z L) as (a & Ha & L').
  specialize (H a Ha). lra.
Qed.

Lemma Pr_and {A B} (p : law A) (r : law B) (Y : A -> Prop) (W : B -> Prop) :
  Pr (both_laws p r) (fun o => Y (fst o) /\ W (snd o)) = Pr p Y * Pr r W.
Proof.
  apply (sum_unique everything (fun a => p a * Pr r (fun b => Y a /\ W b))).
  - apply (Pr_pair p (fun _ => r) (fun o => Y (fst o) /\ W (snd o))).
  - apply (sum_support Y).
    + intros a. apply Rmult_le_pos; [apply pmf_nonneg | apply Pr_nonneg].
    + intros a Ha. rewrite (Pr_none r) by tauto. ring.
    + rewrite Rmult_comm. eapply sum_ext; [reflexivity | | apply sum_scal; [apply Pr_nonneg | apply Pr_sum]].
      intros a Ha. cbv beta. rewrite Rmult_comm. f_equal. apply Pr_ext; tauto.
Qed.

(** One coordinate of independent noise is noise on that coordinate. *)
Lemma coordinate K ys p z : (p < length ys)%nat ->
  Pr (on_each K ys) (fun zs => nth p zs 0%Z = z) = K (nth p ys 0%Z) z.
Proof.
  revert p. induction ys as [|y ys IH]; intros p Hp; [simpl in Hp; lia|]. cbn [on_each]. rewrite Pr_map.
  destruct p as [|p]; cbn [nth].
  - rewrite (Pr_ext _ (both_laws (K y) (on_each K ys)) _ (fun o => fst o = z /\ everything (snd o)));
      [|trivial|intros [a b]; unfold everything; simpl; tauto].
    rewrite (Pr_and (K y) (on_each K ys) (fun a => a = z) everything), Pr_everything, (Pr_one _ _ z) by tauto. ring.
  - rewrite (Pr_ext _ (both_laws (K y) (on_each K ys)) _ (fun o => everything (fst o) /\ nth p (snd o) 0%Z = z));
      [|trivial|intros [a b]; unfold everything; simpl; tauto].
    rewrite (Pr_and (K y) (on_each K ys) everything (fun zs => nth p zs 0%Z = z)), Pr_everything, IH by (simpl in Hp; lia). ring.
Qed.

Section Bounds.
Context (b1 b2 : cost) (H1 : rate b1) (H2 : rate b2).

(** What is published: each count with upward noise of rate b1, and one more number with upward noise of rate b2. *)
Definition published (counts : list Z) (most : Z) : law (list Z * Z) :=
  both_laws (on_each (geometric Inf b1 I H1) counts) (geometric Inf b2 I H2 most).

Lemma published_at counts most zs w :
  published counts most (zs, w) = product (geometric Inf b1 I H1) counts zs * geometric Inf b2 I H2 most w.
Proof. rewrite <- on_each_at. reflexivity. Qed.

(** ** Private, if k·b1 + b2 <= ε: for any counts of which a step lowers at most k, by 1 each and none rises, and for any further
    number that a step lowers by 1 or leaves *)
Theorem everyone_private {X} (step_cost : X -> X -> cost) D (counts : X -> list Z) (most : X -> Z) k eps :
  (times k b1 + b2 <= Fin eps)%cost ->
  (forall x x', step_cost x x' = Inf \/ ((Fin eps <= step_cost x x')%cost /\
     length (counts x) = length (counts x') /\ rise (counts x) (counts x') = O /\ (fall (counts x) (counts x') <= k)%nat /\
     (most x' <= most x <= most x' + 1)%Z)) ->
  shortest step_cost D -> private D (fun x => published (counts x) (most x)).
Proof.
  intros He Hs HD. apply (private_shortest _ _ _ HD).
  eapply private_monotone; [|apply (sequential_composition
     (fun x x' => on_vectors (line Inf b1) (counts x) (counts x')) (fun x x' => line Inf b2 (most x) (most x'))
     (fun x => on_each (geometric Inf b1 I H1) (counts x)) (fun _ x => geometric Inf b2 I H2 (most x)))].
  - intros x x'. destruct (Hs x x') as [->|(Ec & El & Er & Ef & Em)]; [apply cost_le_Inf|].
    eapply cost_le_trans; [|exact Ec]. unfold distance_plus. rewrite line_vectors by trivial. rewrite Er. cbn [times]. rewrite cost_0_plus.
    eapply cost_le_trans; [|exact He]. apply cost_plus_le; [apply times_le; [apply rate_nonneg|]; trivial|].
    unfold line, up. replace (Z.to_nat (most x' - most x)) with O by lia. cbn [times]. rewrite cost_0_plus.
    apply cost_le_trans with (times 1 b2); [apply times_le; [apply rate_nonneg; trivial | lia]|].
    cbn [times]. rewrite cost_plus_0. apply cost_le_refl.
  - intros x x' Z. apply (on_each_private (line Inf b1) (geometric Inf b1 I H1)). apply geometric_private.
  - intros _ x x' Z. apply geometric_private.
Qed.

(** Upward noise is never below the truth. *)
Lemma never_below b (Hb : rate b) y z : (z < y)%Z -> geometric Inf b I Hb y z = 0.
Proof.
  intros H. rewrite geometric_at. unfold line, up. destruct (Z.to_nat (y - z)) as [|n] eqn:E; [lia|].
  replace (times (S n) Inf) with Inf by (simpl; destruct (times n Inf); trivial). simpl. ring.
Qed.

Lemma none_below ys zs p : (p < length ys)%nat -> (nth p zs 0 < nth p ys 0)%Z -> product (geometric Inf b1 I H1) ys zs = 0.
Proof.
  revert zs p. induction ys as [|y ys IH]; intros [|z zs] p Hp H; simpl in Hp; try lia; cbn [product]; trivial.
  destruct p as [|p]; cbn [nth] in H; [rewrite never_below by trivial; ring|].
  rewrite (IH zs p) by (trivial; lia). ring.
Qed.

(** The odds that the sum of both noises is at most n. *)
Definition both_at_most (x y : R) (n : Z) : R :=
  if (0 <=? n)%Z
  then total (fun g => (1 - x) * x ^ g * (1 - y ^ (S (Z.to_nat n) - g))) (seq 0 (S (Z.to_nat n)))
  else 0.

Lemma published_odds counts most p t : (p < length counts)%nat ->
  Pr (published counts most) (fun z => (nth p (fst z) 0 + snd z <= t)%Z) =
  both_at_most (decay b1) (decay b2) (t - nth p counts 0 - most)%Z.
Proof.
  intros Hp. set (y := nth p counts 0%Z).
  transitivity (Pr (both_laws (geometric Inf b1 I H1 y) (geometric Inf b2 I H2 most)) (fun z => (fst z + snd z <= t)%Z)).
  { transitivity (Pr (map_law (fun o => (nth p (fst o) 0%Z, snd o)) (published counts most)) (fun z => (fst z + snd z <= t)%Z)).
    - rewrite Pr_map. reflexivity.
    - apply Pr_ext; [|tauto]. intros [z w]. rewrite (pmf_as_Pr (map_law _ _)), Pr_map.
      unfold published.
      rewrite (Pr_ext _ (both_laws (on_each (geometric Inf b1 I H1) counts) (geometric Inf b2 I H2 most)) _
        (fun o => nth p (fst o) 0%Z = z /\ snd o = w)); [|trivial|].
      + rewrite (Pr_and (on_each (geometric Inf b1 I H1) counts) (geometric Inf b2 I H2 most)
          (fun zs => nth p zs 0%Z = z) (fun v => v = w)).
        rewrite coordinate by trivial. rewrite (Pr_one _ (fun v => v = w) w) by tauto. reflexivity.
      + intros [zs v]. cbn [fst snd]. split; [intros E; injection E; auto | intros [-> ->]; trivial]. }
  set (f := fun z => geometric Inf b1 I H1 y z * Pr (geometric Inf b2 I H2 most) (fun w => (z + w <= t)%Z)).
  apply (sum_unique everything f).
  { apply (Pr_pair (geometric Inf b1 I H1 y) (fun _ => geometric Inf b2 I H2 most) (fun z => (fst z + snd z <= t)%Z)). }
  assert (Hf : forall z, 0 <= f z) by (intros z; apply Rmult_le_pos; [apply pmf_nonneg | apply Pr_nonneg]).
  assert (Far : forall z, (t - most < z)%Z -> f z = 0).
  { intros z Hz. unfold f. rewrite (Pr_ext _ (geometric Inf b2 I H2 most) _ (at_most (t - z)));
      [|trivial|intros w; unfold at_most; lia]. rewrite upward_never_errs by lia. ring. }
  assert (Near : forall z, (z < y)%Z -> f z = 0) by (intros z Hz; unfold f; rewrite never_below by trivial; ring).
  unfold both_at_most. destruct (Z.leb_spec 0 (t - y - most)) as [L|L].
  - set (n := Z.to_nat (t - y - most)).
    assert (E : total (fun g => (1 - decay b1) * decay b1 ^ g * (1 - decay b2 ^ (S n - g))) (seq 0 (S n)) =
                total f (map (fun g => (y + Z.of_nat g)%Z) (seq 0 (S n)))).
    { assert (G : forall l, (forall g, In g l -> (g <= n)%nat) ->
        total (fun g => (1 - decay b1) * decay b1 ^ g * (1 - decay b2 ^ (S n - g))) l =
        total f (map (fun g => (y + Z.of_nat g)%Z) l)).
      { induction l as [|g l IH]; intros Hl; [reflexivity|]. cbn [map total].
        rewrite IH by (intros; apply Hl; right; trivial). f_equal. specialize (Hl g (or_introl eq_refl)). unfold f.
        rewrite geometric_at, <- weight_line. unfold weight.
        replace (y + Z.of_nat g - y)%Z with (Z.of_nat g) by ring. destruct (Z.leb_spec 0 (Z.of_nat g)); [|lia].
        rewrite Nat2Z.id. rewrite (Pr_ext _ (geometric Inf b2 I H2 most) _ (at_most (t - (y + Z.of_nat g))));
          [|trivial|intros w; unfold at_most; lia].
        rewrite upward_odds by lia. replace (Z.to_nat (t - (y + Z.of_nat g) + 1 - most)) with (S n - g)%nat by lia.
        unfold normaliser. simpl (decay Inf). field. }
      apply G. intros g Hg. apply in_seq in Hg. lia. }
    rewrite E. apply sum_list; trivial.
    + apply FinFun.Injective_map_NoDup; [intros g g' Eg; lia | apply seq_NoDup].
    + intros z Hz. destruct (Z_lt_le_dec z y); [apply Near; trivial|].
      destruct (Z_lt_le_dec (t - most) z); [apply Far; trivial|]. exfalso. apply Hz.
      apply in_map_iff. exists (Z.to_nat (z - y)). split; [lia|]. apply in_seq. lia.
  - apply (sum_list f []); [constructor | trivial|]. intros z _.
    destruct (Z_lt_le_dec z y); [apply Near; trivial | apply Far; lia].
Qed.

(** ** Tables of people: a record is a list of distinct places, and which of them are kept depends on this record alone *)

Section Tables.
Context (k m : nat) (keep : list nat -> list nat).
Context (kept : forall r, NoDup r -> NoDup (keep r) /\ (length (keep r) <= k)%nat /\ incl (keep r) r).

Fixpoint people (f : list nat -> Z) (T : list (list nat)) : Z := match T with [] => 0 | r :: T => f r + people f T end%Z.

(** All who were at a place; those who are counted there; and how many are left out. *)
Definition were_there (T : list (list nat)) (p : nat) : Z := people (visits p) T.
Definition counted (T : list (list nat)) (p : nat) : Z := people (fun r => visits p (keep r)) T.
Definition left_out (T : list (list nat)) (p : nat) : Z := (were_there T p - counted T p)%Z.

(** The greatest of 0 and of the values at the first [n] places. *)
Fixpoint greatest (f : nat -> Z) (n : nat) : Z := match n with O => 0 | S n => Z.max (f n) (greatest f n) end%Z.

(** Of the listed places 0..m-1: the counts, and the most left out at any of them. *)
Definition counts (T : list (list nat)) : list Z := map (counted T) (seq 0 m).
Definition most (T : list (list nat)) : Z := greatest (left_out T) m.

(** One person is withdrawn, with everything about them. *)
Inductive withdrawal : list (list nat) -> list (list nat) -> Prop :=
  withdraws before r after : NoDup r -> withdrawal (before ++ r :: after) (before ++ after).

Lemma people_without f before r after : people f (before ++ r :: after) = (f r + people f (before ++ after))%Z.
Proof. induction before as [|s before IH]; simpl; [|rewrite IH]; lia. Qed.

Lemma visits_range p r : (0 <= visits p r <= 1)%Z.
Proof. unfold visits. destruct (in_dec _ _ _); lia. Qed.

Lemma visits_kept p r : NoDup r -> (visits p (keep r) <= visits p r)%Z.
Proof.
  intros Hr. destruct (kept r Hr) as (_ & _ & Hi). unfold visits. specialize (Hi p).
  destruct (in_dec _ _ (keep r)), (in_dec _ _ r); try lia. tauto.
Qed.

Lemma greatest_falls f g n : (forall p, g p <= f p <= g p + 1)%Z -> (greatest g n <= greatest f n <= greatest g n + 1)%Z.
Proof. intros H. induction n as [|n IH]; simpl; [lia|]. specialize (H n). lia. Qed.

Lemma greatest_ge f n p : (p < n)%nat -> (f p <= greatest f n)%Z.
Proof. induction n as [|n IH]; intros Hp; [lia|]. simpl. destruct (Nat.eq_dec p n) as [->|]; [lia|]. specialize (IH ltac:(lia)). lia. Qed.

Lemma plus_maps (f g : nat -> Z) l : plus_vectors (map f l) (map g l) = map (fun p => (f p + g p)%Z) l.
Proof. induction l as [|p l IH]; simpl; [trivial | rewrite IH; trivial]. Qed.

(** *** A step lowers at most k counts, by 1 each, and raises none; the most left out stays or falls by 1 *)
Theorem withdrawal_lowers T T' : withdrawal T T' -> length (counts T) = length (counts T') /\
  rise (counts T) (counts T') = O /\ (fall (counts T) (counts T') <= k)%nat /\ (most T' <= most T <= most T' + 1)%Z.
Proof.
  intros [before r after Hr]. set (rest := before ++ after).
  destruct (truncation_addition_only k keep (fun r Hr => conj (proj1 (kept r Hr)) (proj1 (proj2 (kept r Hr)))) m r Hr) as [R F].
  assert (C : counts (before ++ r :: after) = plus_vectors (counts rest) (map (fun p => visits p (keep r)) (seq 0 m))).
  { unfold counts. rewrite plus_maps. apply map_ext. intros p. unfold counted, rest. rewrite people_without. lia. }
  assert (C' : counts rest = plus_vectors (counts rest) (map (fun _ => 0%Z) (seq 0 m))).
  { unfold counts at 2. rewrite plus_maps. apply map_ext. intros p. lia. }
  split; [unfold counts; rewrite !map_length; trivial|].
  assert (L : forall f : nat -> Z, length (counts rest) = length (map f (seq 0 m))) by (intros f; unfold counts; rewrite !map_length; trivial).
  split; [|split].
  - rewrite C. rewrite C' at 2. rewrite others_do_not_matter by apply L. trivial.
  - unfold fall in *. rewrite C. rewrite C' at 1. rewrite others_do_not_matter by apply L. trivial.
  - apply greatest_falls. intros p. unfold left_out, were_there, counted, rest. rewrite !people_without.
    pose proof (visits_range p r). pose proof (visits_range p (keep r)). pose proof (visits_kept p r Hr). lia.
Qed.

(** So what is published is private for every notion whose steps withdraw one person and cost at least ε. *)
Corollary everyone_private_on_tables step_cost D eps : (times k b1 + b2 <= Fin eps)%cost ->
  (forall T T', step_cost T T' = Inf \/ ((Fin eps <= step_cost T T')%cost /\ withdrawal T T')) -> shortest step_cost D ->
  private D (fun T => published (counts T) (most T)).
Proof.
  intros He Hs HD. apply (everyone_private step_cost D counts most k eps); trivial.
  intros T T'. destruct (Hs T T') as [|[E W]]; [tauto|]. right. split; [exact E|]. apply withdrawal_lowers; trivial.
Qed.

Lemma counts_nth T p : (p < m)%nat -> nth p (counts T) 0%Z = counted T p.
Proof.
  intros Hp. unfold counts. rewrite (nth_indep _ 0%Z (counted T 0)) by (rewrite map_length, seq_length; trivial).
  rewrite map_nth, seq_nth by trivial. reflexivity.
Qed.

(** *** Never too low: the sum of both is at least all who were there *)
Theorem everyone_never_too_low T p : (p < m)%nat ->
  Pr (published (counts T) (most T)) (fun z => (nth p (fst z) 0 + snd z < were_there T p)%Z) = 0.
Proof.
  intros Hp. apply Pr_zero. intros [zs w] H. cbn [fst snd] in H. rewrite published_at.
  pose proof (greatest_ge (left_out T) m p Hp) as G. fold (most T) in G. unfold left_out in G.
  destruct (Z_lt_le_dec (nth p zs 0%Z) (counted T p)) as [L|L].
  - rewrite (none_below _ _ p); [ring | unfold counts; rewrite map_length, seq_length; trivial|].
    rewrite counts_nth by trivial. trivial.
  - rewrite never_below by lia. ring.
Qed.

(** So *safe* is never wrong about all who were there. Its odds: *)
Theorem everyone_odds T p t : (p < m)%nat ->
  Pr (published (counts T) (most T)) (fun z => (nth p (fst z) 0 + snd z <= t)%Z) =
  both_at_most (decay b1) (decay b2) (t - were_there T p + left_out T p - most T)%Z.
Proof.
  intros Hp. rewrite published_odds by (unfold counts; rewrite map_length, seq_length; trivial).
  rewrite counts_nth by trivial. f_equal. unfold left_out. lia.
Qed.

End Tables.

(** ** Tight: one person at k + 1 places, counted at the first k *)

Lemma product_tight b (Hb : rate b) ys ys' : length ys = length ys' ->
  0 < product (geometric Inf b I Hb) ys ys /\
  product (geometric Inf b I Hb) ys' ys = decay (on_vectors (line Inf b) ys ys') * product (geometric Inf b I Hb) ys ys.
Proof.
  revert ys'. induction ys as [|y ys IH]; intros [|y' ys'] E; try discriminate.
  - cbn [on_vectors product]. rewrite decay_0. lra.
  - simpl in E. injection E as E. destruct (IH ys' E) as [I1 I2]. cbn [product on_vectors]. rewrite I2, decay_plus, !geometric_at.
    rewrite (d_refl _ (line_hemimetric Inf b I (rate_nonneg b Hb))), decay_0.
    pose proof (normaliser_pos _ _ (rate_decay b Hb) (rate_decay Inf I)). split; [|ring].
    apply Rmult_lt_0_compat; lra.
Qed.

Lemma firstn_incl k (r : list nat) : incl (firstn k r) r.
Proof. intros p Hp. rewrite <- (firstn_skipn k r). apply in_or_app. tauto. Qed.

Lemma firstn_kept k (r : list nat) : NoDup r -> NoDup (firstn k r) /\ (length (firstn k r) <= k)%nat /\ incl (firstn k r) r.
Proof.
  intros Hr. split; [|split; [apply firstn_le_length | apply firstn_incl]].
  revert k. induction r as [|p r IH]; intros [|k]; simpl; try constructor; inversion_clear Hr as [|? ? Hp Hr']; auto.
  intros Hi. apply Hp, (firstn_incl k r), Hi.
Qed.

Lemma rise_app xs xs' ys ys' : length xs = length xs' -> rise (xs ++ ys) (xs' ++ ys') = (rise xs xs' + rise ys ys')%nat.
Proof.
  revert xs'. induction xs as [|x xs IH]; intros [|x' xs'] E; try discriminate; trivial.
  simpl in *. rewrite IH by lia. lia.
Qed.

Lemma rise_ones (f g : nat -> Z) l : (forall p, In p l -> f p = 0%Z /\ g p = 1%Z) -> rise (map f l) (map g l) = length l.
Proof.
  induction l as [|p l IH]; intros H; trivial. simpl. rewrite IH by (intros; apply H; right; trivial).
  destruct (H p (or_introl eq_refl)) as [-> ->]. reflexivity.
Qed.

Theorem everyone_tight k : exists T T', withdrawal T T' /\
  let counts := counts (S k) (firstn k) in let most := most (S k) (firstn k) in
  0 < published (counts T) (most T) (counts T, most T) /\
  published (counts T') (most T') (counts T, most T) =
    decay (times k b1 + b2) * published (counts T) (most T) (counts T, most T).
Proof.
  exists [seq 0 (S k)], []. split; [apply (withdraws [] (seq 0 (S k)) []), seq_NoDup|]. cbv zeta.
  set (T := [seq 0 (S k)]).
  assert (F : firstn k (seq 0 (S k)) = seq 0 k).
  { rewrite seq_S, firstn_app, firstn_all2 by (rewrite seq_length; lia).
    rewrite seq_length, Nat.sub_diag. simpl. apply app_nil_r. }
  assert (Cin : forall p, counted (firstn k) T p = visits p (seq 0 k)).
  { intros p. unfold counted, T. cbn [people]. rewrite F. lia. }
  assert (Win : forall p, (p < k)%nat -> visits p (seq 0 k) = 1%Z).
  { intros p Hp. unfold visits. destruct (in_dec _ _ _) as [|N]; trivial. exfalso. apply N, in_seq. lia. }
  assert (Wall : forall p, (p < S k)%nat -> were_there T p = 1%Z).
  { intros p Hp. unfold were_there, T. cbn [people]. unfold visits. destruct (in_dec _ _ _) as [|N]; [lia|]. exfalso. apply N, in_seq. lia. }
  assert (Wk : visits k (seq 0 k) = 0%Z).
  { unfold visits. destruct (in_dec _ _ _) as [Hi|]; trivial. apply in_seq in Hi. lia. }
  assert (M : most (S k) (firstn k) T = 1%Z).
  { unfold most. cbn [greatest]. unfold left_out at 1. rewrite Wall, Cin, Wk by lia.
    assert (G : forall n, (n <= k)%nat -> greatest (left_out (firstn k) T) n = 0%Z).
    { induction n as [|n IH]; intros Hn; trivial. cbn [greatest]. rewrite IH by lia. unfold left_out.
      rewrite Wall, Cin, Win by lia. reflexivity. }
    rewrite G by lia. reflexivity. }
  assert (M' : most (S k) (firstn k) [] = 0%Z).
  { unfold most. generalize (S k). induction n as [|n IH]; trivial. cbn [greatest]. rewrite IH. reflexivity. }
  rewrite M, M'. set (ys := counts (S k) (firstn k) T). set (ys' := counts (S k) (firstn k) []).
  assert (L : length ys = length ys') by (unfold ys, ys', counts; rewrite !map_length; trivial).
  assert (Fall : rise ys' ys = k).
  { unfold ys, ys', counts. rewrite seq_S, !map_app, rise_app by (rewrite !map_length; trivial).
    rewrite rise_ones, seq_length.
    - simpl. rewrite Cin, Wk. unfold up. simpl. lia.
    - intros p Hp. apply in_seq in Hp. split; [reflexivity|]. rewrite Cin. apply Win. lia. }
  assert (Rise : rise ys ys' = O).
  { destruct (withdrawal_lowers k (S k) (firstn k) (firstn_kept k) T [] (withdraws [] (seq 0 (S k)) [] (seq_NoDup _ _))) as (_ & R & _).
    exact R. }
  destruct (product_tight b1 H1 ys ys' L) as [P1 P2]. rewrite line_vectors in P2 by trivial. unfold fall in P2.
  rewrite Rise, Fall in P2. cbn [times] in P2. rewrite cost_0_plus in P2.
  rewrite !published_at, P2, !geometric_at.
  rewrite (d_refl _ (line_hemimetric Inf b2 I (rate_nonneg b2 H2))), decay_0.
  assert (E : line Inf b2 1 0 = b2).
  { unfold line, up. change (Z.to_nat (0 - 1)) with O. change (Z.to_nat (1 - 0)) with 1%nat. cbn [times].
    rewrite cost_0_plus. apply cost_plus_0. }
  rewrite E, decay_plus. pose proof (normaliser_pos _ _ (rate_decay b2 H2) (rate_decay Inf I)). split; [|ring].
  apply Rmult_lt_0_compat; trivial. lra.
Qed.

(** So k·b1 + b2 <= ε is needed as well. *)
Corollary everyone_needs k d : private d (fun T => published (counts (S k) (firstn k) T) (most (S k) (firstn k) T)) ->
  exists T T', withdrawal T T' /\ (times k b1 + b2 <= d T T')%cost.
Proof.
  intros H. destruct (everyone_tight k) as (T & T' & W & P & E). cbv zeta in P, E. exists T, T'. split; trivial.
  pose proof (proj1 (private_decay _ _) H T T' (counts (S k) (firstn k) T, most (S k) (firstn k) T)) as Hp. cbv beta in Hp.
  rewrite E in Hp. apply Rmult_le_reg_r in Hp; trivial.
  destruct (d T T') as [r|], (times k b1 + b2)%cost as [s|]; simpl in *; trivial.
  - apply Rnot_lt_le. intros Hlt. assert (exp (- s) < exp (- r)) by (apply exp_increasing; lra). lra.
  - pose proof (exp_pos (- r)). lra.
Qed.

End Bounds.
