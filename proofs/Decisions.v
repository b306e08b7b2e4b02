(** Decisions about one count: "at most t people", said of a noisy count. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Leeward Require Import Sums Laws Distance Privacy Geometric.
Import ListNotations.
Open Scope R_scope.

Definition at_most (t z : Z) : Prop := (z <= t)%Z.

(** ** Upward noise: "z <= t" never errs, and its odds *)

Section Upward.
Context (b : cost) (Hb : rate b).

Theorem upward_never_errs t c : (t < c)%Z -> Pr (geometric Inf b I Hb c) (at_most t) = 0.
Proof.
  intros H. rewrite Pr_geometric.
  rewrite (Pr_ext _ (noise (decay b) (decay Inf) (rate_decay b Hb) (rate_decay Inf I)) _ (fun k => (k <= t - c)%Z)).
  - rewrite noise_at_most by lia. simpl decay. rewrite pow_i by lia. unfold Rdiv. ring.
  - trivial.
  - intros k. unfold at_most. lia.
Qed.

Theorem upward_odds t c : (c <= t)%Z -> Pr (geometric Inf b I Hb c) (at_most t) = 1 - decay b ^ Z.to_nat (t + 1 - c).
Proof.
  intros H. rewrite Pr_geometric.
  rewrite (Pr_ext _ (noise (decay b) (decay Inf) (rate_decay b Hb) (rate_decay Inf I)) _ (fun k => (k <= t - c)%Z)).
  - rewrite noise_at_most_nonneg by lia. simpl (decay Inf). replace (t - c + 1)%Z with (t + 1 - c)%Z by ring. field.
  - trivial.
  - intros k. unfold at_most. lia.
Qed.

(** No mechanism that is private on this line and never wrong does better, for any count and any way to decide. *)
Theorem upward_best {A} (K : mechanism Z A) (safe : A -> Prop) t c : private (line Inf b) K ->
  Pr (K (t + 1)%Z) safe = 0 -> (c <= t)%Z -> Pr (K c) safe <= Pr (geometric Inf b I Hb c) (at_most t).
Proof.
  intros H H0 Hc. rewrite upward_odds by trivial.
  assert (E : line Inf b (t + 1) c = times (Z.to_nat (t + 1 - c)) b).
  { unfold line, up. replace (Z.to_nat (c - (t + 1))) with O by lia. cbn [times]. rewrite cost_0_plus. reflexivity. }
  pose proof (H (t + 1)%Z c (fun a => ~ safe a)) as Hp. rewrite E in Hp.
  apply factor_decay_nonneg in Hp; [|apply Pr_nonneg]. rewrite !Pr_not, H0, decay_times in Hp. lra.
Qed.

End Upward.

(** ** Downward noise: the threshold is lowered, and the odds of a wrong "safe" are exact *)
Theorem downward_error a (Ha : rate a) t t' : (t' <= t)%Z ->
  Pr (geometric a Inf Ha I (t + 1)%Z) (at_most t') = decay a ^ Z.to_nat (t + 1 - t').
Proof.
  intros H. rewrite Pr_geometric.
  rewrite (Pr_ext _ (noise (decay Inf) (decay a) (rate_decay Inf I) (rate_decay a Ha)) _ (fun k => (k <= t' - (t + 1))%Z)).
  - rewrite noise_at_most by lia. simpl (decay Inf). replace (- (t' - (t + 1)))%Z with (t + 1 - t')%Z by ring. field.
  - trivial.
  - intros k. unfold at_most. lia.
Qed.

(** ** The best decision at every distance from unsafe *)

(** One step down from an unsafe count: [last] is the probability of *safe* before it. *)
Definition better (a b : cost) (delta last : R) : R :=
  Rmin 1 (Rmin (1 - decay b * (1 - delta - last)) (match a with Fin r => exp r * last + delta | Inf => 1 end)).

(** β_0 = α, and β_{k+1} = min(e^a·β_k + δ, 1 - e^{-b}·(1 - δ - β_k), 1), the first term dropped at a = ∞. *)
Fixpoint best (a b : cost) (delta alpha : R) (k : nat) : R :=
  match k with O => alpha | S k => better a b delta (best a b delta alpha k) end.

(** (ε, δ)-privacy of one step: a rise from y - 1 to y costs [a], a fall from y to y - 1 costs [b]. *)
Definition step_private {A} (a b : cost) (delta : R) (K : mechanism Z A) (y : Z) : Prop := forall Z,
  match a with Fin r => Pr (K (y - 1)%Z) Z <= exp r * Pr (K y) Z + delta | Inf => True end /\
  decay b * (Pr (K y) Z - delta) <= Pr (K (y - 1)%Z) Z.

Lemma private_step {A} a b (K : mechanism Z A) y : private (line a b) K -> step_private a b 0 K y.
Proof.
  intros H Z. split.
  - pose proof (H (y - 1)%Z y Z) as Hp. unfold line, up in Hp.
    replace (Z.to_nat (y - (y - 1))) with 1%nat in Hp by lia.
    replace (Z.to_nat (y - 1 - y)) with O in Hp by lia. cbn [times] in Hp. rewrite !cost_plus_0 in Hp.
    destruct a; simpl in *; lra.
  - pose proof (H y (y - 1)%Z Z) as Hp. unfold line, up in Hp.
    replace (Z.to_nat (y - (y - 1))) with 1%nat in Hp by lia.
    replace (Z.to_nat (y - 1 - y)) with O in Hp by lia. cbn [times] in Hp. rewrite cost_0_plus, !cost_plus_0 in Hp.
    apply factor_decay_nonneg in Hp; [|apply Pr_nonneg]. lra.
Qed.

Lemma step_better {A} a b delta (K : mechanism Z A) safe y : step_private a b delta K y ->
  Pr (K (y - 1)%Z) safe <= better a b delta (Pr (K y) safe).
Proof.
  intros H. unfold better. repeat apply Rmin_glb.
  - apply Pr_le_1.
  - destruct (H (fun z => ~ safe z)) as [_ H2]. rewrite !Pr_not in H2. lra.
  - destruct (H safe) as [H1 _]. destruct a; trivial. apply Pr_le_1.
Qed.

Lemma better_rise a b delta last r : a = Fin r -> better a b delta last <= exp r * last + delta.
Proof. intros ->. unfold better. eapply Rle_trans; apply Rmin_r. Qed.

Lemma better_fall a b delta last : better a b delta last <= 1 - decay b * (1 - delta - last).
Proof. unfold better. eapply Rle_trans; [apply Rmin_r | apply Rmin_l]. Qed.

Lemma better_mono a b delta p q : p <= q -> better a b delta p <= better a b delta q.
Proof.
  intros H. unfold better. apply Rle_min_compat_l, Rle_trans with
    (Rmin (1 - decay b * (1 - delta - q)) (match a with Fin r => exp r * p + delta | Inf => 1 end)).
  - apply Rle_min_compat_r. assert (decay b * (1 - delta - q) <= decay b * (1 - delta - p)); [|lra].
    apply Rmult_le_compat_l; [apply decay_nonneg | lra].
  - apply Rle_min_compat_l. destruct a; [|lra]. apply Rplus_le_compat_r, Rmult_le_compat_l; trivial.
    left. apply exp_pos.
Qed.

(** *** No decision does better: K need be private on the counts from c up to the first unsafe one only *)
Theorem best_bound {A} a b delta alpha (K : mechanism Z A) (safe : A -> Prop) u k :
  (forall y, (u - Z.of_nat k < y <= u)%Z -> step_private a b delta K y) ->
  Pr (K u) safe <= alpha -> Pr (K (u - Z.of_nat k)%Z) safe <= best a b delta alpha k.
Proof.
  induction k as [|k IH]; intros H H0.
  - replace (u - Z.of_nat 0)%Z with u by lia. trivial.
  - simpl best. eapply Rle_trans; [|apply better_mono; apply IH; trivial; intros; apply H; lia].
    replace (u - Z.of_nat (S k))%Z with (u - Z.of_nat k - 1)%Z by lia. apply step_better, H. lia.
Qed.

(** *** Geometric noise attains it at every distance at once, with a threshold and a coin for one value above it *)

Section Attained.
Context (a b : cost) (Ha : rate a) (Hb : rate b).
Let al := decay b.
Let be := decay a.

Definition cdf (j : Z) : R := Pr (noise al be (rate_decay b Hb) (rate_decay a Ha)) (fun k => (k <= j)%Z).

Lemma finite_or_not (c : cost) : (exists r, c = Fin r) \/ c = Inf.
Proof. destruct c; eauto. Qed.

Lemma cdf_rise j : (j < -1)%Z -> cdf j = be * cdf (j + 1).
Proof.
  intros H. unfold cdf. rewrite !noise_at_most by lia.
  replace (Z.to_nat (- j)) with (S (Z.to_nat (- (j + 1)))) by lia. simpl. unfold Rdiv. ring.
Qed.

Lemma cdf_at_minus_1 : cdf (-1) = be * cdf 0.
Proof.
  unfold cdf. rewrite noise_at_most, noise_at_most_nonneg by lia. pose proof (product_below_1 al be (rate_decay b Hb) (rate_decay a Ha)).
  change (Z.to_nat (- (-1))) with 1%nat. change (Z.to_nat (0 + 1)) with 1%nat. field. lra.
Qed.

Lemma cdf_fall j : (-1 <= j)%Z -> 1 - cdf (j + 1) = al * (1 - cdf j).
Proof.
  intros H. unfold cdf. rewrite !noise_at_most_nonneg by lia.
  replace (Z.to_nat (j + 1 + 1)) with (S (Z.to_nat (j + 1))) by lia. simpl. unfold Rdiv. ring.
Qed.

Definition threshold_chance (s : Z) (theta : R) (z : Z) : R :=
  if (z <=? s)%Z then 1 else if (z =? s + 1)%Z then theta else 0.

Lemma threshold_chance_range s theta z : 0 <= theta <= 1 -> 0 <= threshold_chance s theta z <= 1.
Proof. intros H. unfold threshold_chance. destruct (z <=? s)%Z, (z =? s + 1)%Z; lra. Qed.

(** *Safe* up to [s], and at s + 1 with probability θ. *)
Definition threshold (s : Z) (theta : R) (H : 0 <= theta <= 1) : mechanism Z bool := fun y =>
  bind_law (geometric a b Ha Hb y) (fun z => coin (threshold_chance s theta z) (threshold_chance_range s theta z H)).

Definition safe (said : bool) : Prop := said = true.

Theorem threshold_private s theta H : private (line a b) (threshold s theta H).
Proof. apply post_processing_random, geometric_private. Qed.

Lemma threshold_odds s theta H y :
  Pr (threshold s theta H y) safe = (1 - theta) * cdf (s - y) + theta * cdf (s + 1 - y).
Proof.
  set (p := geometric a b Ha Hb y).
  assert (E : forall j, Pr p (fun z => (z <= j)%Z) = cdf (j - y)).
  { intros j. unfold p, cdf. rewrite Pr_geometric. apply Pr_ext; trivial. intros k; lia. }
  assert (E1 : Pr p (fun z => (z <= s + 1)%Z) = Pr p (fun z => (z <= s)%Z) + p (s + 1)%Z).
  { rewrite <- (Pr_one p (fun z => z = (s + 1)%Z) (s + 1)%Z) by tauto. rewrite <- Pr_or by (intros; lia).
    apply Pr_ext; trivial. intros z; lia. }
  rewrite !E in E1. apply (sum_unique everything
    (fun z => p z * Pr (coin (threshold_chance s theta z) (threshold_chance_range s theta z H)) safe)).
  { apply Pr_bind. }
  replace ((1 - theta) * cdf (s - y) + theta * cdf (s + 1 - y)) with (cdf (s - y) + theta * p (s + 1)%Z) by (rewrite E1; ring).
  assert (C : forall z, Pr (coin (threshold_chance s theta z) (threshold_chance_range s theta z H)) safe =
                        threshold_chance s theta z)
    by (intros z; rewrite (Pr_one _ safe true) by (unfold safe; tauto); reflexivity).
  apply (sum_support (fun z => (z <= s)%Z \/ z = (s + 1)%Z)).
  - intros z. rewrite C. apply Rmult_le_pos; [apply pmf_nonneg | apply threshold_chance_range; trivial].
  - intros z Hz. rewrite C. unfold threshold_chance.
    destruct (Z.leb_spec z s); [lia|]. destruct (Z.eqb_spec z (s + 1)); [lia|]. ring.
  - apply sum_disjoint; [intros; lia| |].
    + rewrite <- E. eapply sum_ext; [| |apply Pr_sum]; [reflexivity|]. intros z Hz. cbv beta in Hz. rewrite C. unfold threshold_chance.
      destruct (Z.leb_spec z s); [ring | lia].
    + set (w := fun z => p z * Pr (coin (threshold_chance s theta z) (threshold_chance_range s theta z H)) safe).
      assert (E2 : w (s + 1)%Z = theta * p (s + 1)%Z).
      { unfold w. rewrite C. unfold threshold_chance. destruct (Z.leb_spec (s + 1) s); [lia|]. rewrite Z.eqb_refl. ring. }
      rewrite <- E2. apply (sum_one (fun z => z = (s + 1)%Z) w (s + 1)%Z); [tauto|]. rewrite E2.
      apply Rmult_le_pos; [lra | apply pmf_nonneg].
Qed.

Lemma cdf_mono j j' : (j <= j')%Z -> cdf j <= cdf j'.
Proof. intros H. apply Pr_mono. intros k; lia. Qed.

(** *Safe* is said no more often of a greater count: what is wrong with probability α at the first unsafe count is wrong with no
    more at any other. *)
Theorem threshold_falls s theta H y y' : (y <= y')%Z -> Pr (threshold s theta H y') safe <= Pr (threshold s theta H y) safe.
Proof.
  intros L. rewrite !threshold_odds. apply Rplus_le_compat; (apply Rmult_le_compat_l; [lra | apply cdf_mono; lia]).
Qed.

Lemma threshold_step s theta H y : (a = Inf -> (y <= s + 1)%Z) ->
  Pr (threshold s theta H (y - 1)%Z) safe = better a b 0 (Pr (threshold s theta H y) safe).
Proof.
  intros Hs. apply Rle_antisym; [apply step_better, private_step, threshold_private|].
  rewrite !threshold_odds.
  replace (s - (y - 1))%Z with (s - y + 1)%Z by ring. replace (s + 1 - (y - 1))%Z with (s + 1 - y + 1)%Z by ring.
  destruct (Z_lt_le_dec (s - y) (-1)) as [L|G].
  - (* the costs of rising decide *)
    assert (exists r, a = Fin r) as [r Ea].
    { destruct (finite_or_not a) as [?|E]; trivial. specialize (Hs E). lia. }
    eapply Rle_trans; [apply (better_rise _ _ _ _ r Ea)|].
    assert (R : forall j, (j <= -1)%Z -> exp r * cdf j = cdf (j + 1)).
    { intros j Hj. assert (cdf j = be * cdf (j + 1)) as ->.
      { destruct (Z.eq_dec j (-1)) as [->|]; [apply cdf_at_minus_1 | apply cdf_rise; lia]. }
      assert (be = exp (- r)) as -> by (unfold be; rewrite Ea; reflexivity).
      rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0. ring. }
    rewrite <- (R (s - y)%Z), <- (R (s + 1 - y)%Z) by lia. lra.
  - eapply Rle_trans; [apply better_fall|].
    pose proof (cdf_fall (s - y) ltac:(lia)) as F1. pose proof (cdf_fall (s + 1 - y) ltac:(lia)) as F2.
    unfold al in *. nra.
Qed.

Lemma cdf_exists alpha : (a = Inf /\ 0 <= alpha < 1) \/ 0 < alpha < 1 ->
  exists j, cdf j <= alpha < cdf (j + 1) /\ (a = Inf -> (-1 <= j)%Z).
Proof.
  intros Hal.
  pose proof (rate_decay b Hb) as Hl. pose proof (rate_decay a Ha) as He. fold al be in Hl, He.
  pose proof (product_below_1 al be Hl He) as Hp.
  assert (Low : exists m, (m <= -1)%Z /\ (a = Inf -> m = (-1)%Z) /\ cdf m <= alpha).
  { assert (One : a = Inf -> 0 <= alpha -> cdf (-1) <= alpha).
    { intros E H. unfold cdf. rewrite noise_at_most by lia. assert (be = 0) as -> by (unfold be; rewrite E; reflexivity).
      simpl. unfold Rdiv. lra. }
    destruct (finite_or_not a) as [[r Ea]|Ea]; [|exists (-1)%Z; repeat split; try lia; apply One; trivial; destruct Hal as [[_ ?]|?]; lra].
    destruct Hal as [[Ei _]|Hal]; [rewrite Ei in Ea; discriminate|].
    destruct (pow_lt_1_zero be) with (y := alpha * (1 - al * be)) as (N & HN).
    { rewrite Rabs_pos_eq; lra. } { apply Rmult_lt_0_compat; lra. }
    exists (- Z.of_nat (S N))%Z. split; [lia|]. split; [rewrite Ea; discriminate|].
    specialize (HN (S N) ltac:(lia)). assert (0 <= be ^ S N) by (apply pow_le; lra).
    rewrite Rabs_pos_eq in HN by trivial. unfold cdf. rewrite noise_at_most by lia.
    rewrite Z.opp_involutive, Nat2Z.id. apply Rmult_le_reg_r with (1 - al * be); trivial.
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (0 <= al * be ^ S N) by (apply Rmult_le_pos; lra). lra. }
  destruct Low as (m & Hm & Hmi & Hcm).
  assert (High : exists n : nat, alpha < cdf (m + Z.of_nat n)).
  { destruct (pow_lt_1_zero al) with (y := (1 - alpha) * (1 - al * be)) as (N & HN).
    { rewrite Rabs_pos_eq; lra. } { apply Rmult_lt_0_compat; lra. }
    exists (Z.to_nat (Z.of_nat N - 1 - m)). rewrite Z2Nat.id by lia.
    replace (m + (Z.of_nat N - 1 - m))%Z with (Z.of_nat N - 1)%Z by ring. unfold cdf.
    rewrite noise_at_most_nonneg by lia. replace (Z.to_nat (Z.of_nat N - 1 + 1)) with N by lia.
    specialize (HN N (Nat.le_refl N)). assert (0 <= al ^ N) by (apply pow_le; lra). rewrite Rabs_pos_eq in HN by trivial.
    assert ((1 - be) * al ^ N / (1 - al * be) < 1 - alpha); [|lra].
    apply Rmult_lt_reg_r with (1 - al * be); trivial. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (0 <= be * al ^ N) by (apply Rmult_le_pos; lra). lra. }
  destruct High as (n & Hn). revert Hn. induction n as [|n IH]; intros Hn.
  - rewrite Z.add_0_r in Hn. lra.
  - destruct (Rlt_or_le alpha (cdf (m + Z.of_nat n))) as [L|L]; [auto|].
    exists (m + Z.of_nat n)%Z. replace (m + Z.of_nat n + 1)%Z with (m + Z.of_nat (S n))%Z by lia.
    split; [lra|]. intros E. specialize (Hmi E). lia.
Qed.

(** For every α above 0 and below 1, and for α = 0 where a = ∞, there are a threshold and a coin whose odds are [best], at every
    distance from unsafe. At α = 0 and a finite nothing may ever be called safe, and at α = 1 everything may. *)
Theorem best_attained alpha t : (a = Inf /\ 0 <= alpha < 1) \/ 0 < alpha < 1 ->
  exists s theta (H : 0 <= theta <= 1), forall k,
    Pr (threshold s theta H (t + 1 - Z.of_nat k)%Z) safe = best a b 0 alpha k.
Proof.
  intros Hal. destruct (cdf_exists alpha Hal) as (j & Hj & Hi).
  set (theta := (alpha - cdf j) / (cdf (j + 1) - cdf j)).
  assert (Ht : 0 <= theta <= 1).
  { unfold theta. split.
    - apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
    - apply Rmult_le_reg_r with (cdf (j + 1) - cdf j); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  exists (t + 1 + j)%Z, theta, Ht. intros k. induction k as [|k IH].
  - rewrite threshold_odds. replace (t + 1 + j - (t + 1 - Z.of_nat 0))%Z with j by lia.
    replace (t + 1 + j + 1 - (t + 1 - Z.of_nat 0))%Z with (j + 1)%Z by lia. simpl best. unfold theta. field. lra.
  - replace (t + 1 - Z.of_nat (S k))%Z with (t + 1 - Z.of_nat k - 1)%Z by lia. rewrite threshold_step; [rewrite IH; trivial|].
    intros E. specialize (Hi E). lia.
Qed.

End Attained.

(** With upward noise and α = 0 the recursion is 1 - e^{-bk}: the odds of "z <= t" at k = t + 1 - c. *)
Theorem best_upward b k : rate b -> best Inf b 0 0 k = 1 - decay b ^ k.
Proof.
  intros Hb. pose proof (rate_decay b Hb) as H. induction k as [|k IH]; simpl; [ring|]. rewrite IH. unfold better.
  assert (0 <= decay b ^ k <= 1) by (split; [apply pow_le; lra | rewrite <- (pow1 k); apply pow_incr; lra]).
  assert (0 <= decay b * decay b ^ k) by (apply Rmult_le_pos; lra).
  rewrite (Rmin_left (1 - _) 1) by nra. rewrite Rmin_right by nra. ring.
Qed.
