(** Coins of exact probability: a uniform word is compared with a floor, and a tie is settled by further bits. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Leeward Require Import Sums Laws.
Import ListNotations.
Open Scope R_scope.

(** A word of [v] bits, all equally likely. *)
Definition words (v : nat) : nat := (2 ^ v)%nat.

Lemma words_pos v : 0 < INR (words v).
Proof. apply lt_0_INR. unfold words. pose proof (Nat.pow_nonzero 2 v). lia. Qed.

Definition uniform (v : nat) : law nat.
Proof.
  exists (fun n => if (n <? words v)%nat then / INR (words v) else 0).
  - intros n. destruct (n <? words v)%nat; [left; apply Rinv_0_lt_compat, words_pos | lra].
  - set (f := fun n => if (n <? words v)%nat then / INR (words v) else 0).
    assert (E : total f (seq 0 (words v)) = 1).
    { rewrite (total_ext f (fun _ => / INR (words v) * 1)).
      - rewrite total_scal. assert (T : forall l : list nat, total (fun _ => 1) l = INR (length l)).
        { induction l as [|a l IH]; [reflexivity|]. cbn [total length]. rewrite S_INR, IH. ring. }
        rewrite T, seq_length. apply Rinv_l. pose proof (words_pos v). lra.
      - intros n Hn. apply in_seq in Hn. unfold f. destruct (Nat.ltb_spec n (words v)); [ring | lia]. }
    rewrite <- E. apply (sum_support (fun n => (n < words v)%nat)).
    + intros n. unfold f. destruct (n <? words v)%nat; [left; apply Rinv_0_lt_compat, words_pos | lra].
    + intros n Hn. unfold f. destruct (Nat.ltb_spec n (words v)); [lia | trivial].
    + apply sum_intro.
      * intros l [Hn Hl]. apply total_incl; trivial.
        { intros n. unfold f. destruct (n <? words v)%nat; [left; apply Rinv_0_lt_compat, words_pos | lra]. }
        intros n Hin. apply in_seq. specialize (Hl n Hin). lia.
      * intros e He. exists (seq 0 (words v)). split; [|lra]. split; [apply seq_NoDup|].
        intros n Hn. apply in_seq in Hn. lia.
Defined.

Lemma Pr_bind_uniform {B} v (k : nat -> law B) Z :
  Pr (bind_law (uniform v) k) Z = / INR (words v) * total (fun u => Pr (k u) Z) (seq 0 (words v)).
Proof.
  apply (sum_unique everything (fun u => uniform v u * Pr (k u) Z)); [apply Pr_bind|].
  rewrite <- total_scal. set (w := fun u => uniform v u * Pr (k u) Z).
  rewrite (total_ext _ w).
  - apply (sum_support (fun n => (n < words v)%nat)).
    + intros n. apply Rmult_le_pos; [apply pmf_nonneg | apply Pr_nonneg].
    + intros n Hn. unfold w. cbn [uniform pmf]. destruct (Nat.ltb_spec n (words v)); [lia | ring].
    + apply sum_intro.
      * intros l [Hn Hl]. apply total_incl; trivial.
        { intros n. apply Rmult_le_pos; [apply pmf_nonneg | apply Pr_nonneg]. }
        intros n Hin. apply in_seq. specialize (Hl n Hin). lia.
      * intros e He. exists (seq 0 (words v)). split; [|lra]. split; [apply seq_NoDup|].
        intros n Hn. apply in_seq in Hn. lia.
  - intros n Hn. apply in_seq in Hn. unfold w. cbn [uniform pmf]. destruct (Nat.ltb_spec n (words v)); [trivial | lia].
Qed.

Section Coins.
Context (p : R) (Hp : 0 <= p <= 1) (first more : nat).

(** The floor of 2^width · p, and whether anything is left below it. *)
Definition floor_of (width : nat) : Z := Int_part (2 ^ width * p).
Definition rest_of (width : nat) : R := 2 ^ width * p - IZR (floor_of width).

Lemma rest_range width : 0 <= rest_of width < 1.
Proof. unfold rest_of, floor_of. pose proof (base_Int_part (2 ^ width * p)). lra. Qed.

(** Whether U < p, when [prefix] holds the first [width] bits of U: a tie is settled by [more] further bits, at most [ties]
    times; None where it is still open then. *)
Fixpoint settle (ties : nat) (prefix : Z) (width : nat) : law (option bool) :=
  if andb (prefix =? floor_of width)%Z (if Rlt_dec 0 (rest_of width) then true else false) then
    match ties with
    | O => certain None
    | S ties => bind_law (uniform more) (fun u => settle ties (prefix * Z.of_nat (words more) + Z.of_nat u)%Z (width + more))
    end
  else certain (Some (prefix <? floor_of width)%Z).

(** The first word has [first] bits. *)
Definition exact_coin (ties : nat) : law (option bool) :=
  bind_law (uniform first) (fun u => settle ties (Z.of_nat u) first).

(** The chance that U < p, once the first bits of U are known. *)
Definition clip (x : R) : R := Rmax 0 (Rmin x 1).
Definition chance (prefix : Z) (width : nat) : R := clip (2 ^ width * p - IZR prefix).

Lemma clip_range x : 0 <= clip x <= 1.
Proof. unfold clip. split; [apply Rmax_l | apply Rmax_lub; [lra | apply Rmin_r]]. Qed.

Lemma clip_total x n : 0 <= x -> total (fun u => clip (x - INR u)) (seq 0 n) = Rmin x (INR n).
Proof.
  intros Hx. induction n as [|n IH].
  - simpl. rewrite Rmin_right; lra.
  - rewrite total_seq_S, IH, S_INR. unfold clip. destruct (Rle_or_lt x (INR n)); [|destruct (Rle_or_lt x (INR n + 1))].
    + rewrite !(Rmin_left x), (Rmin_left (x - INR n)), Rmax_left by lra. lra.
    + rewrite (Rmin_right x (INR n)), (Rmin_left x), (Rmin_left (x - INR n)), Rmax_right by lra. lra.
    + rewrite !(Rmin_right x), (Rmin_right (x - INR n)), Rmax_right by lra. lra.
Qed.

Lemma words_pow v : INR (words v) = 2 ^ v.
Proof. unfold words. rewrite pow_INR. reflexivity. Qed.

(** Further bits keep the chance: it is the mean over the next word. *)
Lemma chance_mean prefix width v : 0 <= 2 ^ width * p - IZR prefix <= 1 ->
  / INR (words v) * total (fun u => chance (prefix * Z.of_nat (words v) + Z.of_nat u)%Z (width + v)) (seq 0 (words v)) =
  chance prefix width.
Proof.
  intros H. pose proof (words_pos v) as Hw. set (x := 2 ^ width * p - IZR prefix) in *.
  rewrite (total_ext _ (fun u => clip (INR (words v) * x - INR u))).
  - rewrite clip_total by (apply Rmult_le_pos; lra). unfold chance. fold x. unfold clip.
    rewrite (Rmin_left (INR (words v) * x)).
    + rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. rewrite Rmin_left, Rmax_right; lra.
    + rewrite <- (Rmult_1_r (INR (words v))) at 2. apply Rmult_le_compat_l; lra.
  - intros u _. unfold chance. f_equal. unfold x. rewrite plus_IZR, mult_IZR, <- !INR_IZR_INZ, words_pow, pow_add. ring.
Qed.

(** Among the next words at most one is a tie. *)
Lemma one_tie prefix width e n : 0 <= e ->
  total (fun u => if (prefix * Z.of_nat (words more) + Z.of_nat u =? floor_of width)%Z then e else 0) (seq 0 n) <= e.
Proof.
  intros He. set (f := fun u : nat => if (prefix * Z.of_nat (words more) + Z.of_nat u =? floor_of width)%Z then e else 0).
  assert (G : forall l, NoDup l -> total f l <= e).
  { intros l. induction l as [|u l IH]; intros Hn; simpl; [lra|]. inversion_clear Hn as [|? ? Hu Hl].
    unfold f at 1. destruct (Z.eqb_spec (prefix * Z.of_nat (words more) + Z.of_nat u) (floor_of width)) as [E|E].
    - rewrite (total_ext f (fun _ => 0 * 0)); [rewrite total_scal; lra|]. intros u' Hu'. unfold f.
      destruct (Z.eqb_spec (prefix * Z.of_nat (words more) + Z.of_nat u') (floor_of width)) as [E'|]; [|ring].
      assert (u = u') by lia. subst. tauto.
    - specialize (IH Hl). lra. }
  apply G, seq_NoDup.
Qed.

Lemma certain_Pr {A} (a : A) (Z : A -> Prop) : (~ Z a -> Pr (certain a) Z = 0) /\ (Z a -> Pr (certain a) Z = 1).
Proof.
  unfold certain. rewrite Pr_map. split; intros H.
  - apply Pr_none. tauto.
  - rewrite <- (Pr_everything unit_law). apply Pr_ext; trivial. unfold everything. tauto.
Qed.

Definition open (ties : nat) (prefix : Z) (width : nat) : R := if (prefix =? floor_of width)%Z then (/ INR (words more)) ^ ties else 0.

Lemma settle_bounds ties : forall prefix width,
  Pr (settle ties prefix width) (fun o => o = Some true) <= chance prefix width /\
  Pr (settle ties prefix width) (fun o => o = Some false) <= 1 - chance prefix width /\
  Pr (settle ties prefix width) (fun o => o = None) <= open ties prefix width.
Proof.
  pose proof (words_pos more) as Hw. assert (Hi : 0 < / INR (words more)) by (apply Rinv_0_lt_compat; trivial).
  assert (Hopen : forall ties prefix width, 0 <= open ties prefix width).
  { intros. unfold open. destruct (_ =? _)%Z; [apply pow_le; lra | lra]. }
  assert (Hsome : forall ties prefix width,
     (prefix <> floor_of width \/ rest_of width <= 0) ->
     Pr (certain (Some (prefix <? floor_of width)%Z)) (fun o => o = Some true) <= chance prefix width /\
     Pr (certain (Some (prefix <? floor_of width)%Z)) (fun o => o = Some false) <= 1 - chance prefix width /\
     Pr (certain (Some (prefix <? floor_of width)%Z)) (fun o => o = None) <= open ties prefix width).
  { intros ties' prefix width H. pose proof (rest_range width) as Hr. unfold rest_of in Hr, H.
    rewrite (proj1 (certain_Pr _ (fun o => o = None))) by discriminate. specialize (Hopen ties' prefix width).
    destruct (Z.ltb_spec prefix (floor_of width)) as [L|L].
    - rewrite (proj2 (certain_Pr _ (fun o => o = Some true))) by trivial.
      rewrite (proj1 (certain_Pr _ (fun o => o = Some false))) by discriminate.
      assert (IZR prefix + 1 <= IZR (floor_of width)) by (rewrite <- plus_IZR; apply IZR_le; lia).
      unfold chance, clip. rewrite Rmin_right, Rmax_right by lra. lra.
    - rewrite (proj1 (certain_Pr _ (fun o => o = Some true))) by discriminate.
      rewrite (proj2 (certain_Pr _ (fun o => o = Some false))) by trivial.
      assert (2 ^ width * p - IZR prefix <= 0).
      { destruct (Z.eq_dec prefix (floor_of width)) as [->|N]; [destruct H; [tauto | lra]|].
        assert (IZR (floor_of width) + 1 <= IZR prefix) by (rewrite <- plus_IZR; apply IZR_le; lia). lra. }
      unfold chance, clip. rewrite Rmin_left, Rmax_left by lra. lra. }
  induction ties as [|ties IH]; intros prefix width; cbn [settle];
    destruct (Z.eqb_spec prefix (floor_of width)) as [E|E]; cbn [andb]; try (apply Hsome; tauto);
    destruct (Rlt_dec 0 (rest_of width)) as [R|R]; try (apply Hsome; right; lra).
  - rewrite (proj1 (certain_Pr _ (fun o => o = Some true))), (proj1 (certain_Pr _ (fun o => o = Some false))) by discriminate.
    rewrite (proj2 (certain_Pr _ (fun o => o = None))) by trivial.
    unfold open. rewrite (proj2 (Z.eqb_eq _ _) E). simpl. pose proof (clip_range (2 ^ width * p - IZR prefix)).
    unfold chance. lra.
  - rewrite !Pr_bind_uniform.
    assert (M : / INR (words more) * total (fun u => chance (prefix * Z.of_nat (words more) + Z.of_nat u)%Z (width + more))
                  (seq 0 (words more)) = chance prefix width).
    { apply chance_mean. pose proof (rest_range width). unfold rest_of in *. rewrite E. lra. }
    split; [|split].
    + rewrite <- M. apply Rmult_le_compat_l; [lra|]. apply total_le. intros u _. apply IH.
    + apply Rle_trans with (/ INR (words more) *
        total (fun u => 1 + -1 * chance (prefix * Z.of_nat (words more) + Z.of_nat u)%Z (width + more)) (seq 0 (words more))).
      * apply Rmult_le_compat_l; [lra|]. apply total_le. intros u _.
        destruct (IH (prefix * Z.of_nat (words more) + Z.of_nat u)%Z (width + more)%nat) as (_ & H & _). lra.
      * rewrite total_plus, total_scal. rewrite <- M.
        assert (T : total (fun _ : nat => 1) (seq 0 (words more)) = INR (words more)).
        { clear. generalize 0%nat. induction (words more) as [|n IH]; intros s; [reflexivity|].
          cbn [seq total]. rewrite IH, S_INR. ring. }
        rewrite T, Rmult_plus_distr_l, Rinv_l by lra. right. ring.
    + apply Rle_trans with (/ INR (words more) * total (fun u => open ties (prefix * Z.of_nat (words more) + Z.of_nat u)%Z (width + more))
        (seq 0 (words more))).
      * apply Rmult_le_compat_l; [lra|]. apply total_le. intros u _. apply IH.
      * unfold open at 2. rewrite (proj2 (Z.eqb_eq _ _) E). simpl pow. apply Rmult_le_compat_l; [lra|].
        apply one_tie. apply pow_le. lra.
Qed.

(** *** Exactly probability p: what is still open after so many ties is at most 2^-(first + ties·more) *)
Theorem exact_coin_bounds ties :
  let left := / INR (words first) * (/ INR (words more)) ^ ties in
  p - left <= Pr (exact_coin ties) (fun o => o = Some true) <= p /\
  1 - p - left <= Pr (exact_coin ties) (fun o => o = Some false) <= 1 - p /\
  Pr (exact_coin ties) (fun o => o = None) <= left.
Proof.
  intros left. pose proof (words_pos first) as Hf. assert (Hi : 0 < / INR (words first)) by (apply Rinv_0_lt_compat; trivial).
  assert (Hm : 0 < / INR (words more)) by (apply Rinv_0_lt_compat, words_pos).
  assert (M : / INR (words first) * total (fun u => chance (0 * Z.of_nat (words first) + Z.of_nat u)%Z (0 + first))
                (seq 0 (words first)) = chance 0 0) by (apply chance_mean; simpl; lra).
  assert (C0 : chance 0 0 = p).
  { unfold chance, clip. simpl. rewrite Rminus_0_r, Rmult_1_l, Rmin_left, Rmax_right; lra. }
  rewrite C0 in M.
  assert (B1 : Pr (exact_coin ties) (fun o => o = Some true) <= p).
  { unfold exact_coin. rewrite Pr_bind_uniform, <- M. apply Rmult_le_compat_l; [lra|]. apply total_le.
    intros u _. apply (settle_bounds ties (Z.of_nat u) first). }
  assert (B2 : Pr (exact_coin ties) (fun o => o = Some false) <= 1 - p).
  { unfold exact_coin. rewrite Pr_bind_uniform.
    apply Rle_trans with (/ INR (words first) *
        total (fun u => 1 + -1 * chance (0 * Z.of_nat (words first) + Z.of_nat u)%Z (0 + first)) (seq 0 (words first))).
    - apply Rmult_le_compat_l; [lra|]. apply total_le. intros u _.
      destruct (settle_bounds ties (Z.of_nat u) first) as (_ & H & _). simpl in *. lra.
    - rewrite total_plus, total_scal.
      assert (T : total (fun _ : nat => 1) (seq 0 (words first)) = INR (words first)).
      { clear. generalize 0%nat. induction (words first) as [|n IH]; intros s; [reflexivity|].
        cbn [seq total]. rewrite IH, S_INR. ring. }
      rewrite T, Rmult_plus_distr_l, Rinv_l by lra. rewrite <- Rmult_assoc, (Rmult_comm _ (-1)), Rmult_assoc, M. lra. }
  assert (B3 : Pr (exact_coin ties) (fun o => o = None) <= left).
  { unfold exact_coin, left. rewrite Pr_bind_uniform. apply Rmult_le_compat_l; [lra|].
    apply Rle_trans with (total (fun u => open ties (Z.of_nat u) first) (seq 0 (words first))).
    - apply total_le. intros u _. apply settle_bounds.
    - set (e := (/ INR (words more)) ^ ties). assert (0 <= e) by (apply pow_le; lra).
      assert (G : forall l, NoDup l -> total (fun u => open ties (Z.of_nat u) first) l <= e).
      { intros l. induction l as [|u l IH]; intros Hn; simpl; [lra|]. inversion_clear Hn as [|? ? Hu Hl].
        unfold open at 1. destruct (Z.eqb_spec (Z.of_nat u) (floor_of first)) as [E|E].
        - rewrite (total_ext _ (fun _ => 0 * 0)); [rewrite total_scal; fold e; lra|]. intros u' Hu'. unfold open.
          destruct (Z.eqb_spec (Z.of_nat u') (floor_of first)) as [E'|]; [|ring].
          assert (u = u') by lia. subst. tauto.
        - specialize (IH Hl). lra. }
      apply G, seq_NoDup. }
  assert (S1 : Pr (exact_coin ties) (fun o => o = Some true) + Pr (exact_coin ties) (fun o => o = Some false) +
               Pr (exact_coin ties) (fun o => o = None) = 1).
  { rewrite <- Pr_or by (intros; subst; discriminate). rewrite <- Pr_or by (intros a [->| ->] ?; discriminate).
    rewrite <- (Pr_everything (exact_coin ties)). apply Pr_ext; trivial. intros [[]|]; unfold everything; tauto. }
  lra.
Qed.

(** So with no end to the ties allowed, the coin says yes with probability exactly p, and no with exactly 1 - p. *)
Theorem exact_coin_law : (1 <= more)%nat ->
  Un_cv (fun ties => Pr (exact_coin ties) (fun o => o = Some true)) p /\
  Un_cv (fun ties => Pr (exact_coin ties) (fun o => o = Some false)) (1 - p).
Proof.
  intros Hmore.
  assert (Hw : 2 <= INR (words more)).
  { rewrite words_pow. rewrite <- (pow_1 2) at 1. apply Rle_pow; [lra | trivial]. }
  assert (Hi : 0 < / INR (words more) <= / 2).
  { split; [apply Rinv_0_lt_compat; lra | apply Rinv_le_contravar; lra]. }
  assert (L : forall e, 0 < e -> exists N, forall n, (n >= N)%nat -> / INR (words first) * (/ INR (words more)) ^ n < e).
  { intros e He. pose proof (words_pos first) as Hf.
    destruct (pow_lt_1_zero (/ INR (words more))) with (y := e * INR (words first)) as (N & HN).
    { rewrite Rabs_pos_eq; lra. } { apply Rmult_lt_0_compat; trivial. }
    exists N. intros n Hn. specialize (HN n Hn). rewrite Rabs_pos_eq in HN by (apply pow_le; lra).
    apply Rmult_lt_reg_l with (INR (words first)); trivial. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  split; intros e He; destruct (L e He) as (N & HN); exists N; intros n Hn; specialize (HN n Hn);
    destruct (exact_coin_bounds n) as (H1 & H2 & H3); unfold R_dist; apply Rabs_def1; lra.
Qed.

End Coins.
