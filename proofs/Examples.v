(** Numbers computed from the statements, for comparison with the code. Rates are logarithms of whole numbers, so that e^{-rate} and all
    probabilities are fractions; each function on fractions is proved to give the value that a theorem is about. *)

From Coq Require Import Reals Lra Lia List ZArith QArith Qreals Qround.
From Leeward Require Import Sums Laws Distance Privacy Geometric Sampler Coins Decisions Sanitized Sensitivity.
From Leeward Require Import FiniteSums Optimality Universal Everyone.
Import ListNotations.

(** ** Fractions *)

Open Scope R_scope.

Fixpoint qpow (q : Q) (n : nat) : Q := match n with O => 1%Q | S n => Qred (q * qpow q n) end.

Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.

Lemma Q2R_1 : Q2R 1 = 1.
Proof. unfold Q2R. simpl. field. Qed.

Lemma Q2R_0 : Q2R 0 = 0.
Proof. unfold Q2R. simpl. ring. Qed.

Lemma Q2R_pow q n : Q2R (qpow q n) = Q2R q ^ n.
Proof. induction n as [|n IH]; cbn [qpow pow]; [apply Q2R_1|]. rewrite Q2R_red, Q2R_mult, IH. reflexivity. Qed.

Lemma Q2R_quotient p q : Q2R q <> 0 -> Q2R (p / q) = Q2R p / Q2R q.
Proof. intros H. apply Q2R_div. intros E. apply H. rewrite (Qeq_eqR _ _ E). apply Q2R_0. Qed.

Lemma Q2R_inject z : Q2R (inject_Z z) = IZR z.
Proof. unfold Q2R. simpl. field. Qed.

(** A rate by its odds e^rate, a whole number above 1; None is ∞. *)
Definition odds := option positive.
Definition of_odds (o : odds) : cost := match o with Some x => Fin (ln (IZR (Zpos x))) | None => Inf end.
Definition decayQ (o : odds) : Q := match o with Some x => 1 # x | None => 0 end.
Definition proper (o : odds) : Prop := match o with Some x => (1 < x)%positive | None => True end.

Lemma of_odds_rate o : proper o -> rate (of_odds o).
Proof. destruct o as [x|]; simpl; trivial. intros H. rewrite <- ln_1. apply ln_increasing; [lra|]. apply IZR_lt. lia. Qed.

Lemma decay_odds o : decay (of_odds o) = Q2R (decayQ o).
Proof.
  destruct o as [x|]; simpl; [|symmetry; apply Q2R_0]. rewrite exp_Ropp, exp_ln by (apply IZR_lt; lia).
  unfold Q2R. simpl. symmetry. apply Rmult_1_l.
Qed.

(** ** The geometric mechanism *)

Definition normaliserQ (al be : Q) : Q := (1 - al) * (1 - be) / (1 - al * be).
Definition weightQ (al be : Q) (k : Z) : Q := if (0 <=? k)%Z then qpow al (Z.to_nat k) else qpow be (Z.to_nat (- k)).

Lemma weightQ_is al be k : Q2R (weightQ al be k) = weight (Q2R al) (Q2R be) k.
Proof. unfold weightQ, weight. destruct (0 <=? k)%Z; apply Q2R_pow. Qed.

Lemma normaliserQ_is al be : 1 - Q2R al * Q2R be <> 0 -> Q2R (normaliserQ al be) = normaliser (Q2R al) (Q2R be).
Proof.
  intros H. assert (E : Q2R (1 - al * be) = 1 - Q2R al * Q2R be) by (rewrite Q2R_minus, Q2R_mult, Q2R_1; ring).
  unfold normaliserQ, normaliser. rewrite Q2R_quotient by (rewrite E; trivial). rewrite E, Q2R_mult, !Q2R_minus, Q2R_1. reflexivity.
Qed.

Definition geometricQ (a b : odds) (y z : Z) : Q :=
  Qred (normaliserQ (decayQ b) (decayQ a) * weightQ (decayQ b) (decayQ a) (z - y)).

Theorem geometric_numbers a b (Ha : proper a) (Hb : proper b) y z :
  geometric (of_odds a) (of_odds b) (of_odds_rate a Ha) (of_odds_rate b Hb) y z = Q2R (geometricQ a b y z).
Proof.
  pose proof (product_below_1 _ _ (rate_decay _ (of_odds_rate b Hb)) (rate_decay _ (of_odds_rate a Ha))) as Hp.
  rewrite geometric_at, <- weight_line. unfold geometricQ. rewrite Q2R_red, Q2R_mult, weightQ_is, <- !decay_odds.
  rewrite normaliserQ_is by (rewrite <- !decay_odds; lra). rewrite <- !decay_odds. reflexivity.
Qed.

(** ** Clamped, and remapped for a prior and a loss *)

Definition GQ (a b : odds) (n i z : nat) : Q :=
  let al := decayQ b in let be := decayQ a in
  Qred (if (z =? 0)%nat then (1 - al) / (1 - al * be) * qpow be i
        else if (z =? n)%nat then (1 - be) / (1 - al * be) * qpow al (n - i)
        else normaliserQ al be * weightQ al be (Z.of_nat z - Z.of_nat i)).

Lemma GQ_is a b n i z : proper a -> proper b -> G (decay (of_odds b)) (decay (of_odds a)) n i z = Q2R (GQ a b n i z).
Proof.
  intros Ha Hb.
  pose proof (product_below_1 _ _ (rate_decay _ (of_odds_rate b Hb)) (rate_decay _ (of_odds_rate a Ha))) as Hp.
  unfold GQ. rewrite Q2R_red. rewrite !decay_odds in *.
  assert (E : Q2R (1 - decayQ b * decayQ a) = 1 - Q2R (decayQ b) * Q2R (decayQ a)) by (rewrite Q2R_minus, Q2R_mult, Q2R_1; ring).
  unfold G. destruct (z =? 0)%nat; [|destruct (z =? n)%nat].
  - rewrite Q2R_mult, Q2R_quotient, E, Q2R_minus, Q2R_1, Q2R_pow by lra. reflexivity.
  - rewrite Q2R_mult, Q2R_quotient, E, Q2R_minus, Q2R_1, Q2R_pow by lra. reflexivity.
  - rewrite Q2R_mult, normaliserQ_is, weightQ_is by lra. reflexivity.
Qed.

Theorem clamped_numbers a b (Ha : proper a) (Hb : proper b) n i z : (1 <= n)%nat -> (i <= n)%nat -> (z <= n)%nat ->
  Gn (of_odds a) (of_odds b) (of_odds_rate a Ha) (of_odds_rate b Hb) n i (Z.of_nat z) = Q2R (GQ a b n i z).
Proof. intros Hn Hi Hz. rewrite clamped_at by trivial. apply GQ_is; trivial. Qed.

Fixpoint totalQ {A} (f : A -> Q) (l : list A) : Q := match l with [] => 0 | a :: l => Qred (f a + totalQ f l) end.

Lemma Q2R_total {A} (f : A -> Q) l : Q2R (totalQ f l) = total (fun a => Q2R (f a)) l.
Proof. induction l as [|a l IH]; cbn [totalQ total]; [apply Q2R_0|]. rewrite Q2R_red, Q2R_plus, IH. reflexivity. Qed.

Definition SigQ (n : nat) (f : nat -> Q) : Q := totalQ f (seq 0 (S n)).

Definition scoreQ (a b : odds) (n : nat) (W : nat -> nat -> Q) (z r : nat) : Q := SigQ n (fun i => (GQ a b n i z * W i r)%Q).

Fixpoint argminQ (f : nat -> Q) (m : nat) : nat :=
  match m with O => O | S m => if Qlt_le_dec (f (S m)) (f (argminQ f m)) then S m else argminQ f m end.

Definition remappedQ (a b : odds) (n : nat) (W : nat -> nat -> Q) : Q :=
  SigQ n (fun z => scoreQ a b n W z (argminQ (scoreQ a b n W z) n)).

Lemma argminQ_is f m : argminQ f m = argmin (fun r => Q2R (f r)) m.
Proof.
  induction m as [|m IH]; trivial. cbn [argminQ argmin]. rewrite <- IH.
  destruct (Qlt_le_dec _ _) as [L|L], (Rlt_dec _ _) as [L'|L']; trivial.
  - exfalso. apply L', Qlt_Rlt, L.
  - exfalso. apply Qle_Rle in L. lra.
Qed.

(** The least expected loss of any private mechanism, by [universal_optimality]. *)
Theorem remapped_numbers a b n W : proper a -> proper b ->
  remapped (decay (of_odds b)) (decay (of_odds a)) n (fun i r => Q2R (W i r)) = Q2R (remappedQ a b n W).
Proof.
  intros Ha Hb.
  assert (S : forall z r, score (decay (of_odds b)) (decay (of_odds a)) n (fun i r => Q2R (W i r)) z r = Q2R (scoreQ a b n W z r)).
  { intros z r. unfold score, scoreQ, SigQ, Sig. rewrite Q2R_total. apply total_ext. intros i _.
    rewrite Q2R_mult, GQ_is by trivial. reflexivity. }
  unfold remapped, remappedQ, SigQ, Sig. rewrite Q2R_total. apply total_ext. intros z _. unfold remap. rewrite S. f_equal. f_equal.
  rewrite argminQ_is. assert (E : forall f g m, (forall r, f r = g r) -> argmin f m = argmin g m).
  { intros f g m H. induction m as [|m IH]; trivial. cbn [argmin]. rewrite IH, !H. reflexivity. }
  apply E. apply S.
Qed.

(** ** Decisions *)

Definition upwardQ (b : odds) (t c : Z) : Q := if (c <=? t)%Z then Qred (1 - qpow (decayQ b) (Z.to_nat (t + 1 - c))) else 0.

Theorem upward_numbers b (Hb : proper b) t c :
  Pr (geometric Inf (of_odds b) I (of_odds_rate b Hb) c) (Decisions.at_most t) = Q2R (upwardQ b t c).
Proof.
  unfold upwardQ. destruct (Z.leb_spec c t).
  - rewrite upward_odds, Q2R_red, Q2R_minus, Q2R_1, Q2R_pow, decay_odds by trivial. reflexivity.
  - rewrite upward_never_errs by trivial. symmetry. apply Q2R_0.
Qed.

Definition minQ (x y : Q) : Q := if Qlt_le_dec x y then x else y.

Lemma minQ_is x y : Q2R (minQ x y) = Rmin (Q2R x) (Q2R y).
Proof.
  unfold minQ. destruct (Qlt_le_dec x y) as [L|L].
  - apply Qlt_Rlt in L. rewrite Rmin_left; lra.
  - apply Qle_Rle in L. rewrite Rmin_right; lra.
Qed.

Definition betterQ (a b : odds) (delta last : Q) : Q :=
  Qred (minQ 1 (minQ (1 - decayQ b * (1 - delta - last)) (match a with Some x => inject_Z (Zpos x) * last + delta | None => 1 end))).

Fixpoint bestQ (a b : odds) (delta alpha : Q) (k : nat) : Q :=
  match k with O => alpha | S k => betterQ a b delta (bestQ a b delta alpha k) end.

Theorem best_numbers a b delta alpha k :
  best (of_odds a) (of_odds b) (Q2R delta) (Q2R alpha) k = Q2R (bestQ a b delta alpha k).
Proof.
  induction k as [|k IH]; trivial. cbn [best bestQ]. rewrite IH. unfold better, betterQ.
  rewrite Q2R_red, !minQ_is, Q2R_1, Q2R_minus, Q2R_mult, !Q2R_minus, Q2R_1, <- decay_odds. f_equal. f_equal.
  destruct a as [x|]; [|symmetry; apply Q2R_1]. simpl of_odds. cbn iota. rewrite exp_ln by (apply IZR_lt; lia).
  rewrite Q2R_plus, Q2R_mult, Q2R_inject. reflexivity.
Qed.

Definition downwardQ (a : odds) (t t' : Z) : Q := Qred (qpow (decayQ a) (Z.to_nat (t + 1 - t'))).

Theorem downward_numbers a (Ha : proper a) t t' : (t' <= t)%Z ->
  Pr (geometric (of_odds a) Inf (of_odds_rate a Ha) I (t + 1)%Z) (Decisions.at_most t') = Q2R (downwardQ a t t').
Proof. intros H. unfold downwardQ. rewrite downward_error, decay_odds, Q2R_red, Q2R_pow by trivial. reflexivity. Qed.

(** ** Bounds on all who were there: the odds that both noises together are at most [n] *)

Definition both_at_mostQ (x y : odds) (n : Z) : Q :=
  if (0 <=? n)%Z
  then totalQ (fun g => (1 - decayQ x) * qpow (decayQ x) g * (1 - qpow (decayQ y) (S (Z.to_nat n) - g)))%Q (seq 0 (S (Z.to_nat n)))
  else 0.

Theorem everyone_numbers x y n : both_at_most (decay (of_odds x)) (decay (of_odds y)) n = Q2R (both_at_mostQ x y n).
Proof.
  unfold both_at_most, both_at_mostQ. destruct (0 <=? n)%Z; [|symmetry; apply Q2R_0]. rewrite Q2R_total. apply total_ext.
  intros g _. rewrite !Q2R_mult, !Q2R_minus, !Q2R_pow, Q2R_1, !decay_odds. reflexivity.
Qed.

(** ** A promise read in the other direction: its slack *)

Definition otherQ (x : positive) (delta : Q) : Q := Qred (1 - (1 # x) + (1 # x) * delta).

Theorem other_numbers x delta :
  1 - exp (- ln (IZR (Zpos x))) + exp (- ln (IZR (Zpos x))) * Q2R delta = Q2R (otherQ x delta).
Proof.
  pose proof (decay_odds (Some x)) as D. simpl decay in D. rewrite D. unfold otherQ.
  rewrite Q2R_red, Q2R_plus, Q2R_minus, Q2R_mult, Q2R_1. reflexivity.
Qed.

(** ** Groups: δ grows by this factor over [n] steps *)

Definition growthQ (x : positive) (n : nat) : Q := totalQ (fun j => qpow (inject_Z (Zpos x)) j) (seq 0 n).

Theorem growth_numbers x n : total (fun j => exp (INR j * ln (IZR (Zpos x)))) (seq 0 n) = Q2R (growthQ x n).
Proof.
  unfold growthQ. rewrite Q2R_total. apply total_ext. intros j _. rewrite Q2R_pow, Q2R_inject.
  induction j as [|j IH]; [simpl; rewrite Rmult_0_l, exp_0; trivial|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, IH, exp_ln by (apply IZR_lt; lia). simpl. ring.
Qed.

(** ** The sampler *)

Definition digitQ (b : positive) (i : nat) : Q := let q := qpow (1 # b) (2 ^ i) in Qred (q / (1 + q)).

Theorem digit_numbers b i : digit_chance (decay (of_odds (Some b))) i true = Q2R (digitQ b i).
Proof.
  unfold digit_chance, digitQ. cbv zeta. rewrite Q2R_red, Q2R_quotient, Q2R_plus, Q2R_1, Q2R_pow, decay_odds; [reflexivity|].
  rewrite Q2R_plus, Q2R_1, Q2R_pow. pose proof (pow_le (Q2R (1 # b)) (2 ^ i)) as H.
  pose proof (decay_nonneg (of_odds (Some b))) as N. rewrite decay_odds in N. specialize (H N). lra.
Qed.

(** What a word of [width] bits is compared with. *)
Definition floorQ (p : Q) (width : nat) : Z := Qfloor (inject_Z (2 ^ Z.of_nat width) * p).

Theorem floor_numbers p width : floor_of (Q2R p) width = floorQ p width.
Proof.
  unfold floor_of, floorQ. set (q := (inject_Z (2 ^ Z.of_nat width) * p)%Q).
  assert (E : 2 ^ width * Q2R p = Q2R q).
  { unfold q. rewrite Q2R_mult, Q2R_inject, <- pow_IZR. reflexivity. }
  rewrite E. pose proof (Qfloor_le q) as L. pose proof (Qlt_floor q) as U. apply Qle_Rle in L. apply Qlt_Rlt in U.
  rewrite Q2R_inject in *. rewrite plus_IZR in U. destruct (base_Int_part (Q2R q)) as [B1 B2].
  assert (Int_part (Q2R q) < Qfloor q + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra).
  assert (Qfloor q < Int_part (Q2R q) + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra). lia.
Qed.

(** ** Drawing again instead of clamping *)

Definition resampledQ (x : positive) : Q * Q :=
  let q := 1 # x in (Qred (1 / (1 + q + qpow q 2)), Qred (q / (1 + 2 * q))).

Theorem resampled_numbers x (H : rate (of_odds (Some x))) : exists y y' : Geometric.answer 2,
  resampled (of_odds (Some x)) (of_odds (Some x)) H H 2 y 0%Z = Q2R (fst (resampledQ x)) /\
  resampled (of_odds (Some x)) (of_odds (Some x)) H H 2 y' 0%Z = Q2R (snd (resampledQ x)).
Proof.
  destruct (resampling_two_sided _ H) as (y & y' & _ & E1 & E2 & _). exists y, y'.
  pose proof (decay_odds (Some x)) as D. simpl decay in D. cbn [decayQ] in D.
  assert (P : 0 < Q2R (1 # x)) by (rewrite <- D; apply exp_pos).
  cbn [resampledQ fst snd]. rewrite !Q2R_red. simpl of_odds in *. split.
  - rewrite E1, D, Q2R_quotient; rewrite !Q2R_plus, Q2R_pow, Q2R_1; [reflexivity|].
    assert (0 <= Q2R (1 # x) ^ 2) by (apply pow_le; lra). lra.
  - assert (T : Q2R 2 = 2) by (unfold Q2R; simpl; field).
    rewrite E2, D, Q2R_quotient; rewrite !Q2R_plus, Q2R_mult, Q2R_1, T; [reflexivity | lra].
Qed.

(** ** The sanitized mechanism: the chance of a transcript, for counts and one threshold given in advance *)

Definition in_order (t : Z) : strategy (list Z) := fun past => Question (fun counts => nth (length past) counts 0%Z) t.

Definition answerQ (b : odds) (left : nat) (t c : Z) (s : said) : Q :=
  match s, left with
  | Safe, _ => upwardQ b t c
  | Above z, S _ => if (z <=? t)%Z then 0 else geometricQ None b c z
  | Withheld, O => 1 - upwardQ b t c
  | _, _ => 0
  end.

Fixpoint transcriptQ (b : odds) (left : nat) (t : Z) (counts : list Z) (tau : list said) : Q :=
  match counts, left with
  | c :: counts, S _ =>
      match tau with
      | [] => 0
      | s :: tau => Qred (answerQ b left t c s * transcriptQ b (after left s) t counts tau)
      end
  | _, _ => match tau with [] => 1 | _ => 0 end
  end.

Theorem transcript_numbers x (Hx : (1 < x)%positive) left t counts tau :
  stopping (ln (IZR (Zpos x))) (of_odds_rate (Some x) Hx) (in_order t) (length counts) left [] counts tau =
  Q2R (transcriptQ (Some x) left t counts tau).
Proof.
  assert (Gen : forall rest past left tau, nth (length past) counts 0%Z = nth 0 rest 0%Z ->
    (forall k, nth (length past + k) counts 0%Z = nth k rest 0%Z) ->
    stopping (ln (IZR (Zpos x))) (of_odds_rate (Some x) Hx) (in_order t) (length rest) left past counts tau =
    Q2R (transcriptQ (Some x) left t rest tau)).
  { clear left tau. induction rest as [|c rest IH]; intros past left tau _ Hk.
    - cbn [length stopping transcriptQ]. destruct tau; [rewrite certain_at, Q2R_1 | rewrite certain_off, Q2R_0 by discriminate]; trivial.
    - destruct left as [|left].
      + cbn [length stopping transcriptQ]. destruct tau; [rewrite certain_at, Q2R_1 | rewrite certain_off, Q2R_0 by discriminate]; trivial.
      + cbn [length stopping transcriptQ]. destruct tau as [|s tau]; [rewrite cons_not_nil; symmetry; apply Q2R_0|].
        rewrite cons_at, Q2R_red, Q2R_mult. f_equal.
        * pose proof (Hk 0%nat) as H0. rewrite Nat.add_0_r in H0. simpl in H0. unfold answerQ. destruct s as [|z|].
          { rewrite answer_safe. unfold in_order. cbn [count limit]. rewrite H0.
            apply (upward_numbers (Some x) Hx t c). }
          { rewrite answer_above. unfold in_order. cbn [count limit]. rewrite H0.
            destruct (z <=? t)%Z; [symmetry; apply Q2R_0|]. rewrite <- (geometric_numbers None (Some x) I Hx c z).
            unfold noisy. rewrite !geometric_at. reflexivity. }
          { rewrite Q2R_0. unfold Sanitized.answer. cbn [map_law pmf]. apply Pr_none. intros z. unfold say. destruct (z <=? _)%Z; discriminate. }
        * assert (Hk' : forall k, nth (length (past ++ [s]) + k) counts 0%Z = nth k rest 0%Z).
          { intros k. rewrite app_length. simpl length. replace (length past + 1 + k)%nat with (length past + S k)%nat by lia.
            rewrite Hk. reflexivity. }
          apply IH; trivial. rewrite <- (Nat.add_0_r (length (past ++ [s]))) at 1. apply Hk'. }
  apply Gen; trivial.
Qed.

(** ** The line *)

Definition lineQ (a b : Q) (y y' : Z) : Q :=
  Qred (inject_Z (Z.max 0 (y' - y)) * a + inject_Z (Z.max 0 (y - y')) * b).

Theorem line_numbers a b y y' : line (Fin (Q2R a)) (Fin (Q2R b)) y y' = Fin (Q2R (lineQ a b y y')).
Proof.
  unfold line, lineQ, up. rewrite !times_Fin. cbn [cost_plus]. f_equal. rewrite Q2R_red, Q2R_plus, !Q2R_mult, !Q2R_inject, !INR_IZR_INZ.
  f_equal; f_equal; f_equal; lia.
Qed.

(** ** Rates for counts of people at no more than [k] places, when a step costs 1 *)

Theorem share_numbers k : 1 / INR (Pos.to_nat k) = Q2R (1 # k).
Proof. unfold Q2R. simpl. rewrite INR_IZR_INZ, positive_nat_Z. unfold Rdiv. ring. Qed.

(** ** Shortest paths, on four points: a matrix of what steps cost, where None is ∞ *)

Inductive point := P0 | P1 | P2 | P3.
Definition points : list point := [P0; P1; P2; P3].
Definition place (p : point) : nat := match p with P0 => 0 | P1 => 1 | P2 => 2 | P3 => 3 end.

Definition amount := option Q.
Definition of_amount (a : amount) : cost := match a with Some q => Fin (Q2R q) | None => Inf end.

Definition plusA (a b : amount) : amount := match a, b with Some p, Some q => Some (Qred (p + q)) | _, _ => None end.
Definition minA (a b : amount) : amount := match a, b with Some p, Some q => Some (minQ p q) | None, z | z, None => z end.
Definition leA (a b : amount) : bool := match a, b with _, None => true | None, _ => false | Some p, Some q => Qle_bool p q end.

Definition matrix := list (list amount).
Definition entry (m : matrix) (x y : point) : amount := nth (place y) (nth (place x) m []) None.
Definition table (f : point -> point -> amount) : matrix := map (fun x => map (f x) points) points.
Definition costs (m : matrix) (x y : point) : cost := of_amount (entry m x y).

Lemma in_points x : In x points.
Proof. destruct x; simpl; tauto. Qed.

Lemma entry_table f x y : entry (table f) x y = f x y.
Proof. destruct x, y; reflexivity. Qed.

Lemma plusA_is a b : of_amount (plusA a b) = (of_amount a + of_amount b)%cost.
Proof. destruct a, b; trivial. cbn [plusA of_amount cost_plus]. rewrite Q2R_red, Q2R_plus. reflexivity. Qed.

Lemma minA_is a b : of_amount (minA a b) = cost_min (of_amount a) (of_amount b).
Proof. destruct a, b; trivial. cbn [minA of_amount cost_min]. rewrite minQ_is. reflexivity. Qed.

Lemma minA_one a b : minA a b = a \/ minA a b = b.
Proof. destruct a as [p|], b as [q|]; simpl; auto. unfold minQ. destruct (Qlt_le_dec p q); auto. Qed.

Lemma leA_is a b : leA a b = true -> (of_amount a <= of_amount b)%cost.
Proof. destruct a, b; simpl; trivial; try discriminate. intros H. apply Qle_Rle, Qle_bool_iff, H. Qed.

(** One more step in front, if that is less. *)
Definition through (c D : matrix) : matrix :=
  table (fun x z => fold_right (fun y least => minA (plusA (entry c x y) (entry D y z)) least) (entry D x z) points).

Definition no_step : matrix := table (fun x y => if (place x =? place y)%nat then Some 0%Q else None).

(** No step in front makes anything less. *)
Definition steady (c D : matrix) : bool :=
  forallb (fun x => leA (entry D x x) (Some 0%Q) &&
    forallb (fun y => forallb (fun z => leA (entry D x z) (plusA (entry c x y) (entry D y z))) points) points)%bool points.

(** Paths of at most three steps, if none is less: otherwise no answer. *)
Definition closureQ (c : matrix) : option matrix :=
  let D := through c (through c (through c no_step)) in if steady c D then Some D else None.

(** What is finite is the cost of a path. *)
Definition reached (c D : matrix) : Prop := forall x z, entry D x z = None \/ path (costs c) x z (costs D x z).

Lemma through_reached c D : reached c D -> reached c (through c D).
Proof.
  intros H x z. unfold costs at 2. unfold through. rewrite entry_table. generalize points. intros l.
  induction l as [|y l IH]; cbn [fold_right]; [apply H|].
  match goal with |- context [minA ?a ?b] => destruct (minA_one a b) as [-> | ->] end; trivial.
  rewrite plusA_is. destruct (H y z) as [E|P].
  - left. rewrite E. destruct (entry c x y); reflexivity.
  - right. apply (path_step (costs c) x y z), P.
Qed.

Theorem closure_numbers c D : closureQ c = Some D -> shortest (costs c) (costs D).
Proof.
  unfold closureQ. set (E := through c _). intros H. destruct (steady c E) eqn:S; [|discriminate]. injection H as <-.
  assert (R : reached c E).
  { unfold E. do 3 apply through_reached. intros x z. unfold costs at 2. unfold no_step. rewrite entry_table.
    destruct x, z; simpl; auto; right; rewrite Q2R_0; constructor. }
  assert (Here : forall x, (costs E x x <= 0)%cost).
  { intros x. unfold steady in S. rewrite forallb_forall in S. specialize (S x (in_points x)).
    apply andb_prop in S. destruct S as [S _]. apply leA_is in S. cbn [of_amount] in S. rewrite Q2R_0 in S. apply S. }
  assert (Step : forall x y z, (costs E x z <= costs c x y + costs E y z)%cost).
  { intros x y z. unfold steady in S. rewrite forallb_forall in S. specialize (S x (in_points x)).
    apply andb_prop in S. destruct S as [_ S]. rewrite forallb_forall in S. specialize (S y (in_points y)).
    rewrite forallb_forall in S. specialize (S z (in_points z)). apply leA_is in S. rewrite plusA_is in S. apply S. }
  intros x z. split.
  - intros e P. induction P as [x|x y z e P IH]; [apply Here|].
    eapply cost_le_trans; [apply (Step x y z)|]. apply cost_plus_le; [apply cost_le_refl | apply IH].
  - intros v Hv. destruct (R x z) as [N|P]; [unfold costs; rewrite N; apply cost_le_Inf | apply Hv, P].
Qed.

(** The smaller of two distances, step by step, and its closure. *)
Definition lesserQ (c c' : matrix) : matrix := table (fun x y => minA (entry c x y) (entry c' x y)).

Theorem both_numbers c c' D : closureQ (lesserQ c c') = Some D -> shortest (distance_min (costs c) (costs c')) (costs D).
Proof.
  intros H. apply closure_numbers in H.
  assert (E : forall x y, costs (lesserQ c c') x y = distance_min (costs c) (costs c') x y).
  { intros x y. unfold costs at 1, lesserQ, distance_min. rewrite entry_table, minA_is. reflexivity. }
  assert (P : forall a b : point -> point -> cost, (forall x y, a x y = b x y) -> forall x y e, path a x y e -> path b x y e).
  { intros a b Hab x y e Q. induction Q as [x|x y z e Q IH]; [constructor|]. rewrite Hab. constructor. apply IH. }
  intros x y. destruct (H x y) as [L G]. split.
  - intros e Q. apply L. eapply P; [|apply Q]. intros. symmetry. apply E.
  - intros v Hv. apply G. intros e Q. apply Hv. eapply P; [|apply Q]. apply E.
Qed.

(** ** Groups: by how much probabilities change at most over [n] steps *)

Definition groupQ (x : positive) (n : nat) : Q := qpow (inject_Z (Zpos x)) n.

Theorem group_numbers x n : exp (INR n * ln (IZR (Zpos x))) = Q2R (groupQ x n).
Proof.
  unfold groupQ. rewrite Q2R_pow, Q2R_inject. induction n as [|n IH]; [simpl; rewrite Rmult_0_l, exp_0; trivial|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, IH, exp_ln by (apply IZR_lt; lia). simpl. ring.
Qed.

(** ** Two parts: what a change that costs [e] in both together costs *)

Definition parallelQ (c c' e : Q) : Q := Qred ((if Qlt_le_dec c c' then c' else c) * e).

Theorem parallel_numbers {X} (d d' : X -> X -> cost) c c' e x x' : distance_plus d d' x x' = Fin (Q2R e) ->
  scale (Rmax (Q2R c) (Q2R c')) (distance_plus d d' x x') = Fin (Q2R (parallelQ c c' e)).
Proof.
  intros ->. cbn [scale]. f_equal. unfold parallelQ. rewrite Q2R_red, Q2R_mult. f_equal.
  destruct (Qlt_le_dec c c') as [L|L]; [apply Qlt_Rlt in L; apply Rmax_right | apply Qle_Rle in L; apply Rmax_left]; lra.
Qed.

(** ** The printed lines: theorem: inputs -> value *)

From Coq Require Import String DecimalString DecimalZ.
Open Scope string_scope.

Definition showZ (z : Z) : string := NilEmpty.string_of_int (Z.to_int z).
Definition showN (n : nat) : string := showZ (Z.of_nat n).
Definition showQ (q : Q) : string := match Qden (Qred q) with
  | 1%positive => showZ (Qnum (Qred q)) | d => showZ (Qnum (Qred q)) ++ "/" ++ showZ (Zpos d) end.
Definition show_rate (o : odds) : string := match o with Some x => "ln(" ++ showZ (Zpos x) ++ ")" | None => "inf" end.
Definition joined {A} (separator : string) (show : A -> string) (l : list A) : string := String.concat separator (map show l).
Definition show_said (s : said) : string := match s with Safe => "safe" | Above z => showZ z | Withheld => "withheld" end.

Definition row (theorem inputs value : string) : string := theorem ++ ": " ++ inputs ++ " -> " ++ value.

Definition rates_tried : list (odds * odds) :=
  [(Some 2, Some 2); (Some 3, Some 2); (Some 2, Some 5); (None, Some 2); (None, Some 3); (Some 4, None)]%positive.

Definition show_rates (r : odds * odds) : string := "rise=" ++ show_rate (fst r) ++ " fall=" ++ show_rate (snd r).

Definition integers (from : Z) (n : nat) : list Z := map (fun i => from + Z.of_nat i)%Z (seq 0 n).

Definition geometric_rows : list string := flat_map (fun r =>
  map (fun z => row "geometric_numbers" (show_rates r ++ " truth=3 output=" ++ showZ z) (showQ (geometricQ (fst r) (snd r) 3 z)))
    (integers 0 7)) rates_tried.

Definition clamped_rows : list string := flat_map (fun r => flat_map (fun i =>
  map (fun z => row "clamped_numbers" (show_rates r ++ " n=3 truth=" ++ showN i ++ " output=" ++ showN z)
    (showQ (GQ (fst r) (snd r) 3 i z))) (seq 0 4)) (seq 0 4)) rates_tried.

Definition upward_rows : list string := flat_map (fun x => flat_map (fun t => map (fun c =>
  row "upward_numbers" ("rate=" ++ show_rate (Some x) ++ " at_most=" ++ showZ t ++ " count=" ++ showZ c) (showQ (upwardQ (Some x) t c)))
    (integers 0 6)) [0; 2]%Z) [2; 3]%positive.

Definition best_rows : list string := flat_map (fun r => flat_map (fun alpha => map (fun delta =>
  row "best_numbers" ("absence=" ++ show_rate (fst r) ++ " presence=" ++ show_rate (snd r) ++ " alpha=" ++ showQ alpha ++ " delta=" ++ showQ delta)
    (joined " " (fun k => showQ (bestQ (fst r) (snd r) delta alpha k)) (seq 0 7))) [0; 1 # 50; 1 # 5]%Q)
    [0; 1 # 100; 1 # 4; 1 # 3]%Q) (firstn 5 rates_tried).

Definition downward_rows : list string := flat_map (fun x => map (fun t' =>
  row "downward_numbers" ("rate=" ++ show_rate (Some x) ++ " at_most=2 threshold=" ++ showZ t') (showQ (downwardQ (Some x) 2 t')))
    (integers (-2) 5)) [2; 3]%positive.

Definition everyone_rows : list string := flat_map (fun r => map (fun n =>
  row "everyone_numbers" ("counted=" ++ show_rate (fst r) ++ " left_out=" ++ show_rate (snd r) ++ " room=" ++ showZ n)
    (showQ (both_at_mostQ (fst r) (snd r) n))) (integers (-1) 6)) [(Some 2, Some 2); (Some 2, Some 3); (Some 5, Some 2)]%positive.

Definition other_rows : list string := flat_map (fun x => map (fun delta =>
  row "other_numbers" ("epsilon=" ++ show_rate (Some x) ++ " delta=" ++ showQ delta) (showQ (otherQ x delta))) [0; 1 # 100; 1]%Q)
    [2; 3; 5]%positive.

Definition growth_rows : list string := flat_map (fun x => map (fun n =>
  row "growth_numbers" ("step=" ++ show_rate (Some x) ++ " steps=" ++ showN n) (showQ (growthQ x n))) (seq 1 5)) [2; 3]%positive.

Definition digit_rows : list string := flat_map (fun x => map (fun i =>
  row "digit_numbers" ("rate=" ++ show_rate (Some x) ++ " digit=" ++ showN i) (showQ (digitQ x i))) (seq 0 4)) [2; 3; 5]%positive.

Definition floor_rows : list string := map (fun p =>
  row "floor_numbers" ("p=" ++ showQ p ++ " bits=32") (showZ (floorQ p 32))) [1 # 3; 1 # 4; 2 # 3; 1 # 257; 1 # 1; 0; 4294967295 # 4294967296]%Q.

Definition resampled_rows : list string := map (fun x =>
  row "resampled_numbers" ("rate=" ++ show_rate (Some x)) (showQ (fst (resampledQ x)) ++ " " ++ showQ (snd (resampledQ x)))) [2; 3; 7]%positive.

Definition transcripts : list (nat * list said) :=
  [(1%nat, [Safe; Safe; Safe]); (1%nat, [Above 1]); (1%nat, [Safe; Above 1]); (1%nat, [Safe; Above 3]); (1%nat, [Safe; Safe; Above 2]);
   (2%nat, [Safe; Safe; Safe]); (2%nat, [Above 1; Above 3]); (2%nat, [Above 1; Safe; Above 1]); (2%nat, [Safe; Above 3; Safe]);
   (2%nat, [Above 2; Safe; Safe])]%Z.

Definition transcript_rows : list string := flat_map (fun x => flat_map (fun counts => map (fun run =>
  row "transcript_numbers" ("rate=" ++ show_rate (Some x) ++ " at_most=0 stop_after=" ++ showN (fst run) ++ " counts=" ++ joined "," showZ counts
      ++ " said=" ++ joined "," show_said (snd run))
    (showQ (transcriptQ (Some x) (fst run) 0 counts (snd run)))) transcripts) [[0; 0; 0]; [1; 0; 3]; [0; 2; 1]]%Z) [2; 3]%positive.

Definition line_rows : list string := flat_map (fun r => map (fun y =>
  row "line_numbers" ("rise=" ++ showQ (fst r) ++ " fall=" ++ showQ (snd r) ++ " from=2 to=" ++ showZ y) (showQ (lineQ (fst r) (snd r) 2 y)))
    (integers 0 5)) [(1, 1); (1 # 3, 2)]%Q.

Definition share_rows : list string := map (fun k => row "share_numbers" ("step=1 places=" ++ showZ (Zpos k)) (showQ (1 # k))) [1; 2; 3; 4]%positive.

Definition rounding_rows : list string := flat_map (fun q => map (fun p =>
  row "half_up_keeps" ("p=" ++ showZ p ++ " q=" ++ showZ q) (showZ (half_up p q))) (integers (-7) 15)) [2; 3; 4]%Z.

Definition even_rows : list string := flat_map (fun q => map (fun p =>
  row "half_even_doubles" ("p=" ++ showZ p ++ " q=" ++ showZ q) (showZ (half_even p q))) (integers (-7) 15)) [2; 3; 4]%Z.

Definition absolute (i r : nat) : Q := inject_Z (Z.abs (Z.of_nat i - Z.of_nat r)).
Definition wrong (i r : nat) : Q := if (i =? r)%nat then 0 else 1.
(** Under-reporting costs twice as much. *)
Definition lopsided (i r : nat) : Q := if (r <=? i)%nat then inject_Z (2 * (Z.of_nat i - Z.of_nat r)) else inject_Z (Z.of_nat r - Z.of_nat i).

Definition losses : list (string * (nat -> nat -> Q)) := [("absolute", absolute); ("zero-one", wrong); ("lopsided", lopsided)].
Definition priors : list (list Q) := [[1 # 4; 1 # 4; 1 # 4; 1 # 4]; [1 # 2; 1 # 4; 1 # 8; 1 # 8]; [0; 9 # 10; 0; 1 # 10]]%Q.

Definition remapped_rows : list string := flat_map (fun r => flat_map (fun loss => map (fun prior =>
  row "remapped_numbers" (show_rates r ++ " n=3 loss=" ++ fst loss ++ " prior=" ++ joined "," showQ prior)
    (showQ (remappedQ (fst r) (snd r) 3 (fun i j => nth i prior 0%Q * snd loss i j)%Q))) priors) losses) rates_tried.

Definition show_amount (a : amount) : string := match a with Some q => showQ q | None => "inf" end.
Definition show_matrix : matrix -> string := joined ";" (joined "," show_amount).
Definition show_closure (D : option matrix) : string := match D with Some D => joined " " (joined " " show_amount) D | None => "none" end.

(** Detours that are shorter, of two steps and of three, or just as long; a point without a way out; steps that cost nothing. *)
Definition steps_tried : list matrix := [
  [[Some 0; Some 1; Some 4; Some 9]; [Some 2; Some 0; Some 1; Some 5]; [None; Some 3; Some 0; Some (1 # 2)]; [None; None; None; Some 0]];
  [[Some 0; None; Some (1 # 3); Some 1]; [Some (1 # 3); Some 0; None; None]; [None; None; Some 0; Some (2 # 3)]; [None; Some 2; Some 3; Some 0]];
  [[Some 0; Some 0; None; None]; [None; Some 0; Some 7; Some 8]; [Some 5; None; Some 0; Some 0]; [None; None; Some 1; Some 0]]]%Q.

Definition closure_rows : list string := map (fun c =>
  row "closure_numbers" ("steps=" ++ show_matrix c) (show_closure (closureQ c))) steps_tried.

(** The closures: two promises are about directed distances. *)
Definition closed_tried : list matrix := flat_map (fun c => match closureQ c with Some D => [D] | None => [] end) steps_tried.

Definition both_rows : list string := flat_map (fun c => map (fun c' =>
  row "both_numbers" ("first=" ++ show_matrix c ++ " second=" ++ show_matrix c') (show_closure (closureQ (lesserQ c c'))))
    closed_tried) closed_tried.

Definition group_rows : list string := flat_map (fun x => map (fun n =>
  row "group_numbers" ("step=" ++ show_rate (Some x) ++ " people=" ++ showN n) (showQ (groupQ x n))) (seq 1 5)) [2; 3]%positive.

Definition parallel_rows : list string := flat_map (fun factors => map (fun e =>
  row "parallel_numbers" ("factors=" ++ showQ (fst factors) ++ "," ++ showQ (snd factors) ++ " step=" ++ showQ e)
    (showQ (parallelQ (fst factors) (snd factors) e))) [1; 2 # 3]%Q) [(1, 1); (1 # 2, 3); (5 # 2, 2); (1 # 3, 1 # 4)]%Q.

Definition printed : list string :=
  (geometric_rows ++ clamped_rows ++ upward_rows ++ downward_rows ++ best_rows ++ everyone_rows ++ other_rows ++ growth_rows
   ++ digit_rows ++ floor_rows ++ resampled_rows ++ transcript_rows ++ line_rows ++ share_rows ++ rounding_rows ++ even_rows
   ++ remapped_rows ++ closure_rows ++ both_rows ++ group_rows ++ parallel_rows)%list.
