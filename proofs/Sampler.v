(** The sampler: the difference of two one-sided draws, and the binary digits of one. The coins are in Coins.v. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Leeward Require Import Sums Laws Distance Geometric.
Import ListNotations.
Open Scope R_scope.

(** ** One-sided draws *)

(** P(n) = (1 - q)·q^n on 0, 1, 2, …; q = e^{-s} for the rate s. *)
Definition one_sided (q : R) (H : 0 <= q < 1) : law nat.
Proof.
  exists (fun n => (1 - q) * q ^ n).
  - intros n. apply Rmult_le_pos; [lra | apply pow_le; lra].
  - pose proof (sum_scal everything _ (1 - q) _ ltac:(lra) (sum_geometric q 0 H)) as S.
    replace ((1 - q) * (q ^ 0 / (1 - q))) with 1 in S by (simpl; field; lra). exact S.
Defined.

(** ** The difference of two of them is the two-sided law *)
Theorem difference_of_draws al be (Ha : 0 <= al < 1) (Hb : 0 <= be < 1) k :
  map_law (fun p => (Z.of_nat (fst p) - Z.of_nat (snd p))%Z) (both_laws (one_sided al Ha) (one_sided be Hb)) k =
  noise al be Ha Hb k.
Proof.
  unfold map_law, both_laws. cbn [pmf]. apply Pr_is. rewrite noise_at. pose proof (product_below_1 al be Ha Hb) as Hp.
  assert (Hq : 0 <= al * be < 1) by (split; [apply Rmult_le_pos; lra | lra]).
  assert (T : forall c, 0 <= c ->
    sum_over everything (fun n => (1 - al) * (1 - be) * c * (al * be) ^ (0 + n)) (normaliser al be * c)).
  { intros c Hc. replace (normaliser al be * c) with ((1 - al) * (1 - be) * c * ((al * be) ^ 0 / (1 - al * be)))
      by (unfold normaliser; simpl; field; lra).
    apply sum_scal; [|apply sum_geometric; trivial]. repeat apply Rmult_le_pos; lra. }
  unfold weight. destruct (Z.leb_spec 0 k) as [Hk|Hk].
  - apply (sum_image (fun n => (Z.to_nat k + n, n)%nat) everything).
    + intros n n' _ _ E. injection E as _ E. trivial.
    + intros [m n]. simpl. split.
      * intros E. exists n. split; [exact I|]. f_equal. lia.
      * intros (n' & _ & E). injection E as <- <-. lia.
    + eapply sum_ext; [reflexivity| |apply (T (al ^ Z.to_nat k)); apply pow_le; lra].
      intros n _. simpl. rewrite Rpow_mult_distr, pow_add. ring.
  - apply (sum_image (fun n => (n, Z.to_nat (- k) + n)%nat) everything).
    + intros n n' _ _ E. injection E as E _. trivial.
    + intros [m n]. simpl. split.
      * intros E. exists m. split; [exact I|]. f_equal. lia.
      * intros (n' & _ & E). injection E as <- <-. lia.
    + eapply sum_ext; [reflexivity| |apply (T (be ^ Z.to_nat (- k))); apply pow_le; lra].
      intros n _. simpl. rewrite Rpow_mult_distr, pow_add. ring.
Qed.

(** ** Binary digits *)

Lemma square_range q : 0 <= q < 1 -> 0 <= q * q < 1.
Proof. intros H. split; [apply Rmult_le_pos; lra|]. assert (q * q <= 1 * q) by (apply Rmult_le_compat_r; lra). lra. Qed.

Lemma digit_range q : 0 <= q < 1 -> 0 <= q / (1 + q) <= 1.
Proof.
  intros H. split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]|].
  apply Rmult_le_reg_r with (1 + q); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(** The last digit is 1 with probability q/(1 + q), whatever the others are; the others are one-sided with q². *)
Lemma last_digit q H b m :
  one_sided q H (Nat.b2n b + 2 * m)%nat =
  coin (q / (1 + q)) (digit_range q H) b * one_sided (q * q) (square_range q H) m.
Proof.
  cbn [one_sided coin pmf]. rewrite pow_add, pow_mult. replace (q ^ 2) with (q * q) by ring.
  destruct b; simpl Nat.b2n; [rewrite pow_1 | simpl (q ^ 0)]; field; lra.
Qed.

(** Drawing: [j] digits, one coin each, of probabilities q^(2^i)/(1 + q^(2^i)), and a one-sided tail with q^(2^j). *)
Fixpoint drawn (j : nat) (q : R) (H : 0 <= q < 1) : law nat :=
  match j with
  | O => one_sided q H
  | S j => map_law (fun p => Nat.b2n (fst p) + 2 * snd p)%nat
      (both_laws (coin (q / (1 + q)) (digit_range q H)) (drawn j (q * q) (square_range q H)))
  end.

Lemma digits_unique b b' m m' : (Nat.b2n b + 2 * m = Nat.b2n b' + 2 * m')%nat -> b = b' /\ m = m'.
Proof. destruct b, b'; simpl; intros; split; trivial; lia. Qed.

Lemma with_last_digit n : exists b m, n = (Nat.b2n b + 2 * m)%nat.
Proof. exists (Nat.odd n), (Nat.div2 n). pose proof (Nat.div2_odd n). lia. Qed.

(** *** The law is the same for every number of digits *)
Theorem drawn_is_one_sided j q H n : drawn j q H n = one_sided q H n.
Proof.
  revert q H n. induction j as [|j IH]; intros q H n; trivial. cbn [drawn].
  destruct (with_last_digit n) as (b & m & ->).
  change (Nat.b2n b + 2 * m)%nat with ((fun p : bool * nat => (Nat.b2n (fst p) + 2 * snd p)%nat) (b, m)) at 1.
  rewrite map_inj.
  - unfold both_laws. change (pair_law (coin (q / (1 + q)) (digit_range q H)) (fun _ => drawn j (q * q) (square_range q H)) (b, m))
      with (coin (q / (1 + q)) (digit_range q H) b * drawn j (q * q) (square_range q H) m).
    rewrite IH. symmetry. apply last_digit.
  - intros [b' m'] E. cbn [fst snd] in E. apply digits_unique in E. destruct E as [-> ->]. trivial.
Qed.

(** *** The digits of a draw are independent *)

Fixpoint squared (i : nat) (q : R) : R := match i with O => q | S i => squared i (q * q) end.

Lemma squared_pow i q : squared i q = q ^ (2 ^ i).
Proof.
  revert q. induction i as [|i IH]; intros q; cbn [squared]; [simpl; ring|].
  rewrite IH, Nat.pow_succ_r', pow_mult. f_equal. simpl. ring.
Qed.

(** The probability of the digit [b] at place [i]. *)
Definition digit_chance (q : R) (i : nat) (b : bool) : R :=
  if b then q ^ (2 ^ i) / (1 + q ^ (2 ^ i)) else 1 / (1 + q ^ (2 ^ i)).

Fixpoint digits_chance (q : R) (i : nat) (bs : list bool) : R :=
  match bs with [] => 1 | b :: bs => digit_chance q i b * digits_chance q (S i) bs end.

(** The digits of [n] from place [i] on begin with [bs]. *)
Fixpoint begins (i : nat) (bs : list bool) (n : nat) : Prop :=
  match bs with [] => True | b :: bs => Nat.testbit n i = b /\ begins (S i) bs n end.

Lemma testbit_shift b m i : Nat.testbit (Nat.b2n b + 2 * m) (S i) = Nat.testbit m i.
Proof.
  cbn [Nat.testbit]. f_equal. destruct b; simpl Nat.b2n.
  - replace (1 + 2 * m)%nat with (S (2 * m)) by lia. apply Nat.div2_succ_double.
  - apply Nat.div2_double.
Qed.

Lemma testbit_first b m : Nat.testbit (Nat.b2n b + 2 * m) 0 = b.
Proof. cbn [Nat.testbit]. rewrite Nat.odd_add_mul_2. destruct b; reflexivity. Qed.

Lemma begins_shift b m i bs : begins (S i) bs (Nat.b2n b + 2 * m) <-> begins i bs m.
Proof.
  revert i. induction bs as [|c bs IH]; intros i; cbn [begins]; [tauto|]. rewrite testbit_shift, IH. tauto.
Qed.

Lemma digits_chance_shift q i bs : digits_chance q (S i) bs = digits_chance (q * q) i bs.
Proof.
  revert i. induction bs as [|b bs IH]; intros i; cbn [digits_chance]; trivial. rewrite IH. f_equal.
  unfold digit_chance. replace (q ^ (2 ^ S i)) with ((q * q) ^ (2 ^ i)); trivial.
  rewrite <- !squared_pow. reflexivity.
Qed.

Lemma Pr_both {A B} (p : law A) (r : law B) a (W : B -> Prop) :
  Pr (both_laws p r) (fun x => fst x = a /\ W (snd x)) = p a * Pr r W.
Proof.
  apply (sum_unique everything (fun a' => p a' * Pr r (fun b => a' = a /\ W b))).
  - apply (Pr_pair p (fun _ => r) (fun x => fst x = a /\ W (snd x))).
  - set (w := fun a' => p a' * Pr r (fun b => a' = a /\ W b)).
    assert (E : w a = p a * Pr r W) by (unfold w; f_equal; apply Pr_ext; tauto). rewrite <- E.
    apply (sum_support (fun a' => a' = a)).
    + intros a'. apply Rmult_le_pos; [apply pmf_nonneg | apply Pr_nonneg].
    + intros a' Ha. unfold w. rewrite (Pr_none r) by tauto. apply Rmult_0_r.
    + apply sum_one; [tauto|]. apply Rmult_le_pos; [apply pmf_nonneg | apply Pr_nonneg].
Qed.

Theorem digits_independent q H bs : Pr (one_sided q H) (begins 0 bs) = digits_chance q 0 bs.
Proof.
  revert q H. induction bs as [|b bs IH]; intros q H.
  - cbn [begins digits_chance]. rewrite <- (Pr_everything (one_sided q H)). reflexivity.
  - cbn [digits_chance]. rewrite digits_chance_shift, <- (IH (q * q) (square_range q H)).
    rewrite (Pr_ext _ (drawn 1 q H) _ (begins 0 (b :: bs))); [|intros; symmetry; apply drawn_is_one_sided | tauto].
    cbn [drawn]. rewrite Pr_map.
    rewrite (Pr_ext _ (both_laws (coin (q / (1 + q)) (digit_range q H)) (one_sided (q * q) (square_range q H))) _
      (fun x => fst x = b /\ begins 0 bs (snd x))); trivial.
    + rewrite Pr_both. f_equal. unfold digit_chance. cbn [coin pmf]. simpl (2 ^ 0)%nat. rewrite pow_1.
      destruct b; trivial. field. lra.
    + intros [b' m]. cbn [begins fst snd]. rewrite testbit_first, begins_shift. tauto.
Qed.

(** With q = e^{-s}: the odds of digit i are e^{-s·2^i}, its probability is 1/(1 + e^{s·2^i}). *)
Theorem digit_odds s i : digit_chance (exp (- s)) i true = 1 / (1 + exp (s * 2 ^ i)) /\
  digit_chance (exp (- s)) i true = exp (- (s * 2 ^ i)) * digit_chance (exp (- s)) i false.
Proof.
  assert (E : exp (- s) ^ (2 ^ i) = exp (- (s * 2 ^ i))).
  { assert (G : forall n, exp (- s) ^ n = exp (- (s * INR n))).
    { intros n. induction n as [|n IH]; [simpl; rewrite Rmult_0_r, Ropp_0, exp_0; trivial|].
      rewrite S_INR. simpl pow. rewrite IH, <- exp_plus. f_equal. ring. }
    rewrite G, pow_INR. reflexivity. }
  unfold digit_chance. rewrite E, exp_Ropp. pose proof (exp_pos (s * 2 ^ i)). split; field; split; lra.
Qed.

(** *** The tail: coins of probability r = q^(2^j) count on until one fails *)
Fixpoint counted (coins : nat) (r : R) (H : 0 <= r < 1) : law (option nat) :=
  match coins with
  | O => certain None
  | S coins => bind_law (coin r (conj (proj1 H) (Rlt_le _ _ (proj2 H))))
      (fun b : bool => if b then map_law (option_map S) (counted coins r H) else certain (Some O))
  end.

Lemma Pr_bind_coin {B} t Ht (k : bool -> law B) Z : Pr (bind_law (coin t Ht) k) Z = t * Pr (k true) Z + (1 - t) * Pr (k false) Z.
Proof.
  apply (sum_unique everything (fun b => coin t Ht b * Pr (k b) Z)); [apply Pr_bind|].
  set (w := fun b => coin t Ht b * Pr (k b) Z).
  change (sum_over everything w (w true + w false)).
  assert (N : forall b, 0 <= w b) by (intros b; apply Rmult_le_pos; [apply pmf_nonneg | apply Pr_nonneg]).
  eapply (sum_ext (fun b => b = true \/ b = false) everything w w).
  - intros []; unfold everything; tauto.
  - trivial.
  - apply sum_disjoint; [intros; subst; discriminate | |]; apply sum_one; trivial; tauto.
Qed.




Theorem counted_is_one_sided r H coins n : (n < coins)%nat -> counted coins r H (Some n) = one_sided r H n.
Proof.
  revert n. induction coins as [|coins IH]; intros n Hn; [lia|]. cbn [counted].
  rewrite pmf_as_Pr, Pr_bind_coin. rewrite <- !pmf_as_Pr. destruct n as [|n].
  - rewrite certain_at. rewrite (pmf_as_Pr (map_law _ _)), Pr_map, Pr_none by (intros [m|]; discriminate).
    cbn [one_sided pmf]. simpl. ring.
  - rewrite certain_off by discriminate. change (Some (S n)) with (option_map S (Some n)). rewrite map_inj.
    + rewrite IH by lia. cbn [one_sided pmf]. simpl. ring.
    + intros [m|] E; simpl in E; congruence.
Qed.
