(** Universal optimality on the directed line (docs/theorem.md), for matrices: the clamped geometric mechanism, followed by the
    best remap of its outputs, loses no more than any private mechanism. Steps 1 to 3 and the limits are those of the page. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Leeward Require Import Sums FiniteSums Geometric.
Import ListNotations.
Open Scope R_scope.

(** ** Private mechanisms on 0..n as matrices *)

Section Matrices.
Context (al be : R) (Hal : 0 <= al < 1) (Hbe : 0 <= be < 1) (n : nat).

Definition matrix := nat -> nat -> R.

(** Rows sum to 1; neighbouring rows compare as the line asks: β = e^{-a} for a rise, α = e^{-b} for a fall. *)
Record feasible (M : matrix) : Prop := {
  f_nonneg : forall i r, (i <= n)%nat -> (r <= n)%nat -> 0 <= M i r;
  f_sum : forall i, (i <= n)%nat -> Sig n (M i) = 1;
  f_down : forall i r, (i < n)%nat -> (r <= n)%nat -> be * M i r <= M (S i) r;
  f_up : forall i r, (i < n)%nat -> (r <= n)%nat -> al * M (S i) r <= M i r }.

Definition value (W M : matrix) : R := Sig n (fun i => Sig n (fun r => W i r * M i r)).

(** Prior times loss: does not fall as the guess moves away from the truth. *)
Definition monotone (W : matrix) : Prop := forall i r r', (i <= n)%nat -> (r < r')%nat -> (r' <= n)%nat ->
  ((r' <= i)%nat -> W i r' <= W i r) /\ ((i <= r)%nat -> W i r <= W i r').

Definition strictly_monotone (W : matrix) : Prop := forall i r r', (i <= n)%nat -> (r < r')%nat -> (r' <= n)%nat ->
  ((r' <= i)%nat -> W i r' < W i r) /\ ((i <= r)%nat -> W i r < W i r').

Definition optimal (W M : matrix) : Prop := feasible M /\ forall M', feasible M' -> value W M <= value W M'.

Lemma feasible_le_1 M i r : feasible M -> (i <= n)%nat -> (r <= n)%nat -> M i r <= 1.
Proof.
  intros H Hi Hr. rewrite <- (f_sum M H i Hi). apply (Sig_ge_one n r); trivial. intros; apply f_nonneg; trivial.
Qed.

(** *** Moving a fraction of a row from one guess to another *)

Definition moved (d : R) (src s : nat) (v : nat -> R) (c : nat) : R := v c + d * v src * (ind c s - ind c src).

Lemma Sig_ind s f : (s <= n)%nat -> Sig n (fun c => ind c s * f c) = f s.
Proof.
  intros Hs. rewrite (Sig_one n s) by (trivial; intros i _ Hi; rewrite ind_other by trivial; ring). rewrite ind_same. ring.
Qed.

Lemma moved_value d src s v w : (src <= n)%nat -> (s <= n)%nat ->
  Sig n (fun c => w c * moved d src s v c) = Sig n (fun c => w c * v c) + d * v src * (w s - w src).
Proof.
  intros H1 H2. rewrite <- (Sig_ind s w H2), <- (Sig_ind src w H1).
  replace (d * v src * (Sig n (fun c => ind c s * w c) - Sig n (fun c => ind c src * w c))) with
    (d * v src * Sig n (fun c => ind c s * w c) + (- (d * v src)) * Sig n (fun c => ind c src * w c)) by ring.
  rewrite <- !Sig_scal, <- !Sig_plus. apply Sig_ext. intros c _. unfold moved. ring.
Qed.

Lemma moved_sum d src s v : (src <= n)%nat -> (s <= n)%nat -> Sig n (moved d src s v) = Sig n v.
Proof.
  intros H1 H2. pose proof (moved_value d src s v (fun _ => 1) H1 H2) as E.
  rewrite (Sig_ext n (moved d src s v) (fun c => 1 * moved d src s v c)) by (intros; ring). rewrite E.
  rewrite Rminus_diag_eq, Rmult_0_r, Rplus_0_r by trivial. apply Sig_ext. intros; ring.
Qed.

Lemma moved_at_source d src s v : src <> s -> moved d src s v src = (1 - d) * v src.
Proof. intros H. unfold moved. rewrite ind_same, ind_other by trivial. ring. Qed.

Lemma moved_at_target d src s v : src <> s -> moved d src s v s = v s + d * v src.
Proof. intros H. unfold moved. rewrite ind_same, ind_other by auto. ring. Qed.

Lemma moved_elsewhere d src s v c : c <> src -> c <> s -> moved d src s v c = v c.
Proof. intros H1 H2. unfold moved. rewrite !ind_other by trivial. ring. Qed.

Lemma moved_nothing d src v c : moved d src src v c = v c.
Proof. unfold moved. ring. Qed.

Lemma moved_not d src s v c : d = 0 -> moved d src s v c = v c.
Proof. intros ->. unfold moved. ring. Qed.

(** Moving keeps inequalities between rows from which the same fraction is moved. *)
Lemma moved_le d src s k v w : 0 <= d <= 1 -> (src <= n)%nat -> (forall c, (c <= n)%nat -> k * v c <= w c) ->
  forall c, (c <= n)%nat -> k * moved d src s v c <= moved d src s w c.
Proof.
  intros Hd Hs H c Hc. destruct (Nat.eq_dec src s) as [->|N]; [rewrite !moved_nothing; auto|].
  pose proof (H c Hc) as H1. pose proof (H src Hs) as H2.
  destruct (Nat.eq_dec c src) as [->|N1].
  - rewrite !moved_at_source by trivial. apply Rmult_le_compat_l with (r := 1 - d) in H2; lra.
  - destruct (Nat.eq_dec c s) as [->|N2].
    + rewrite !moved_at_target by trivial. apply Rmult_le_compat_l with (r := d) in H2; lra.
    + rewrite !moved_elsewhere by trivial. trivial.
Qed.

Lemma moved_nonneg d src s v : 0 <= d <= 1 -> (src <= n)%nat -> (forall c, (c <= n)%nat -> 0 <= v c) ->
  forall c, (c <= n)%nat -> 0 <= moved d src s v c.
Proof.
  intros Hd Hs H c Hc. rewrite <- (Rmult_0_l (moved d src s v c)).
  apply moved_le; trivial. intros. rewrite Rmult_0_l. auto.
Qed.

(** ** Step 1: what can be moved at a profit is not optimal *)

Section Exchange.
Context (W M : matrix) (HW : strictly_monotone W) (HM : optimal W M) (i : nat) (Hi : (i < n)%nat).

(** Rows above i: a fraction [d1] from [r] to [s]; rows up to i: a fraction [d2] from [r'] to [s]. *)
Definition exchanged (d1 d2 : R) (r r' s : nat) : matrix :=
  fun j => if (j <=? i)%nat then moved d2 r' s (M j) else moved d1 r s (M j).

Lemma no_profit d1 d2 r r' s : (r <= n)%nat -> (r' <= n)%nat -> (s <= n)%nat -> 0 <= d1 <= 1 -> 0 <= d2 <= 1 ->
  (d1 = 0 \/ (r < s /\ s <= S i)%nat) -> (d2 = 0 \/ (i <= s /\ s < r')%nat) ->
  (0 < d1 /\ 0 < M (S i) r) \/ (0 < d2 /\ 0 < M i r') ->
  (forall c, (c <= n)%nat -> be * moved d2 r' s (M i) c <= moved d1 r s (M (S i)) c) ->
  (forall c, (c <= n)%nat -> al * moved d1 r s (M (S i)) c <= moved d2 r' s (M i) c) -> False.
Proof.
  intros Hr Hr' Hs Hd1 Hd2 C1 C2 Hp B1 B2. destruct HM as [HF HO].
  assert (F : feasible (exchanged d1 d2 r r' s)).
  { unfold exchanged. split.
    - intros j c Hj Hc. destruct (j <=? i)%nat; apply moved_nonneg; trivial; intros; apply f_nonneg; trivial.
    - intros j Hj. destruct (j <=? i)%nat; rewrite moved_sum by trivial; apply f_sum; trivial.
    - intros j c Hj Hc. destruct (Nat.leb_spec j i), (Nat.leb_spec (S j) i); try lia.
      + apply moved_le; trivial. intros; apply f_down; trivial.
      + assert (j = i) as -> by lia. auto.
      + apply moved_le; trivial. intros; apply f_down; trivial.
    - intros j c Hj Hc. destruct (Nat.leb_spec j i), (Nat.leb_spec (S j) i); try lia.
      + apply moved_le; trivial. intros; apply f_up; trivial.
      + assert (j = i) as -> by lia. auto.
      + apply moved_le; trivial. intros; apply f_up; trivial. }
  specialize (HO _ F). apply Rle_not_lt in HO. apply HO. apply Rminus_lt.
  set (gain := fun j => if (j <=? i)%nat then d2 * M j r' * (W j s - W j r') else d1 * M j r * (W j s - W j r)).
  assert (E : value W (exchanged d1 d2 r r' s) = value W M + Sig n gain).
  { unfold value. rewrite <- Sig_plus. apply Sig_ext. intros j _. unfold exchanged, gain.
    destruct (j <=? i)%nat; apply moved_value; trivial. }
  rewrite E. replace (value W M + Sig n gain - value W M) with (Sig n gain) by ring.
  assert (G : forall j, (j <= n)%nat -> gain j <= 0).
  { intros j Hj. unfold gain. destruct (Nat.leb_spec j i).
    - destruct C2 as [->|[C2 C2']]; [lra|]. pose proof (proj2 (HW j s r' Hj C2' Hr') ltac:(lia)).
      pose proof (f_nonneg M HF j r' Hj Hr'). assert (0 <= d2 * M j r' * (W j r' - W j s)); [|lra].
      apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
    - destruct C1 as [->|[C1 C1']]; [lra|]. pose proof (proj1 (HW j r s Hj C1 Hs) ltac:(lia)).
      pose proof (f_nonneg M HF j r Hj Hr). assert (0 <= d1 * M j r * (W j r - W j s)); [|lra].
      apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
  destruct Hp as [[P1 P2]|[P1 P2]].
  - apply (Sig_strict n (S i)); trivial. unfold gain. destruct (Nat.leb_spec (S i) i); [lia|].
    destruct C1 as [->|[C1 C1']]; [lra|]. pose proof (proj1 (HW (S i) r s Hi C1 Hs) ltac:(lia)).
    assert (0 < d1 * M (S i) r * (W (S i) r - W (S i) s)); [|lra]. repeat apply Rmult_lt_0_compat; lra.
  - apply (Sig_strict n i); trivial; [lia|]. unfold gain. destruct (Nat.leb_spec i i); [|lia].
    destruct C2 as [->|[C2 C2']]; [lra|]. pose proof (proj2 (HW i s r' ltac:(lia) C2' Hr') ltac:(lia)).
    assert (0 < d2 * M i r' * (W i r' - W i s)); [|lra]. repeat apply Rmult_lt_0_compat; lra.
Qed.

Definition tight_down (r : nat) : Prop := M (S i) r = be * M i r.
Definition tight_up (r : nat) : Prop := M i r = al * M (S i) r.

Lemma bounds r : (r <= n)%nat -> 0 <= M i r <= 1 /\ 0 <= M (S i) r <= 1 /\ be * M i r <= M (S i) r /\ al * M (S i) r <= M i r.
Proof.
  intros Hr. destruct HM as [HF _]. repeat split; try (apply f_nonneg); try (apply feasible_le_1); try apply f_down;
    try apply f_up; trivial; lia.
Qed.

(** If r' <= i + 1: rows above i move to the right. *)
Lemma exchange_right r r' : (r < r')%nat -> (r' <= S i)%nat -> (r' <= n)%nat -> tight_down r \/ tight_up r'.
Proof.
  intros H1 H2 H3. apply NNPP. intros N. apply not_or_and in N. destruct N as [N1 N2]. unfold tight_down, tight_up in *.
  destruct (bounds r ltac:(lia)) as (A1 & A2 & A3 & A4). destruct (bounds r' H3) as (B1 & B2 & B3 & B4).
  set (g1 := M (S i) r - be * M i r). set (g2 := M i r' - al * M (S i) r').
  assert (G1 : 0 < g1 <= 1) by (assert (0 <= be * M i r) by (apply Rmult_le_pos; lra); unfold g1; lra).
  assert (G2 : 0 < g2 <= 1) by (assert (0 <= al * M (S i) r') by (apply Rmult_le_pos; lra); unfold g2; lra).
  set (d := Rmin g1 g2). pose proof (Rmin_l g1 g2). pose proof (Rmin_r g1 g2).
  assert (Hd : 0 < d) by (apply Rmin_glb_lt; lra). fold d in H, H0.
  assert (Q : 0 <= d * M (S i) r <= d).
  { split; [apply Rmult_le_pos; lra|]. rewrite <- (Rmult_1_r d) at 2. apply Rmult_le_compat_l; lra. }
  apply (no_profit d 0 r r' r'); try lia; try lra.
  - left. split; trivial. assert (0 <= be * M i r) by (apply Rmult_le_pos; lra). unfold g1 in G1. lra.
  - intros c Hc. rewrite (moved_not 0) by trivial. destruct (bounds c Hc) as (D1 & D2 & D3 & D4).
    destruct (Nat.eq_dec c r) as [->|E1]; [rewrite moved_at_source by lia; unfold g1 in *; lra|].
    destruct (Nat.eq_dec c r') as [->|E2]; [rewrite moved_at_target by lia; lra|]. rewrite moved_elsewhere by trivial. lra.
  - intros c Hc. rewrite (moved_not 0) by trivial. destruct (bounds c Hc) as (D1 & D2 & D3 & D4).
    destruct (Nat.eq_dec c r) as [->|E1].
    { rewrite moved_at_source by lia. assert (0 <= al * (d * M (S i) r)) by (apply Rmult_le_pos; lra). lra. }
    destruct (Nat.eq_dec c r') as [->|E2]; [|rewrite moved_elsewhere by trivial; lra].
    rewrite moved_at_target by lia. rewrite Rmult_plus_distr_l.
    assert (al * (d * M (S i) r) <= 1 * (d * M (S i) r)) by (apply Rmult_le_compat_r; lra). unfold g2 in *. lra.
Qed.

(** If r >= i: rows up to i move to the left. *)
Lemma exchange_left r r' : (r < r')%nat -> (i <= r)%nat -> (r' <= n)%nat -> tight_down r \/ tight_up r'.
Proof.
  intros H1 H2 H3. apply NNPP. intros N. apply not_or_and in N. destruct N as [N1 N2]. unfold tight_down, tight_up in *.
  destruct (bounds r ltac:(lia)) as (A1 & A2 & A3 & A4). destruct (bounds r' H3) as (B1 & B2 & B3 & B4).
  set (g1 := M (S i) r - be * M i r). set (g2 := M i r' - al * M (S i) r').
  assert (G1 : 0 < g1 <= 1) by (assert (0 <= be * M i r) by (apply Rmult_le_pos; lra); unfold g1; lra).
  assert (G2 : 0 < g2 <= 1) by (assert (0 <= al * M (S i) r') by (apply Rmult_le_pos; lra); unfold g2; lra).
  set (d := Rmin g1 g2). pose proof (Rmin_l g1 g2). pose proof (Rmin_r g1 g2).
  assert (Hd : 0 < d) by (apply Rmin_glb_lt; lra). fold d in H, H0.
  assert (Q : 0 <= d * M i r' <= d).
  { split; [apply Rmult_le_pos; lra|]. rewrite <- (Rmult_1_r d) at 2. apply Rmult_le_compat_l; lra. }
  apply (no_profit 0 d r r' r); try lia; try lra.
  - right. split; trivial. assert (0 <= al * M (S i) r') by (apply Rmult_le_pos; lra). unfold g2 in G2. lra.
  - intros c Hc. rewrite (moved_not 0) by trivial. destruct (bounds c Hc) as (D1 & D2 & D3 & D4).
    destruct (Nat.eq_dec c r') as [->|E1].
    { rewrite moved_at_source by lia. assert (0 <= be * (d * M i r')) by (apply Rmult_le_pos; lra). lra. }
    destruct (Nat.eq_dec c r) as [->|E2]; [|rewrite moved_elsewhere by trivial; lra].
    rewrite moved_at_target by lia. rewrite Rmult_plus_distr_l.
    assert (be * (d * M i r') <= 1 * (d * M i r')) by (apply Rmult_le_compat_r; lra). unfold g1 in *. lra.
  - intros c Hc. rewrite (moved_not 0) by trivial. destruct (bounds c Hc) as (D1 & D2 & D3 & D4).
    destruct (Nat.eq_dec c r') as [->|E1]; [rewrite moved_at_source by lia; unfold g2 in *; lra|].
    destruct (Nat.eq_dec c r) as [->|E2]; [rewrite moved_at_target by lia; lra|]. rewrite moved_elsewhere by trivial. lra.
Qed.

(** Otherwise both move into column i. *)
Lemma exchange_middle r r' : (r < i)%nat -> (S i < r')%nat -> (r' <= n)%nat -> M i i = 0 -> M (S i) i = 0 ->
  tight_down r \/ tight_up r'.
Proof.
  intros H1 H2 H3 Z1 Z2. apply NNPP. intros N. apply not_or_and in N. destruct N as [N1 N2]. unfold tight_down, tight_up in *.
  destruct (bounds r ltac:(lia)) as (A1 & A2 & A3 & A4). destruct (bounds r' H3) as (B1 & B2 & B3 & B4).
  set (g1 := M (S i) r - be * M i r). set (g2 := M i r' - al * M (S i) r').
  assert (P1 : 0 <= be * M i r) by (apply Rmult_le_pos; lra).
  assert (P2 : 0 <= al * M (S i) r') by (apply Rmult_le_pos; lra).
  assert (G1 : 0 < g1 <= 1) by (unfold g1; lra). assert (G2 : 0 < g2 <= 1) by (unfold g2; lra).
  set (d := Rmin g1 g2). pose proof (Rmin_l g1 g2). pose proof (Rmin_r g1 g2).
  assert (Hd : 0 < d) by (apply Rmin_glb_lt; lra). fold d in H, H0.
  assert (U : 0 < M (S i) r) by (unfold g1 in G1; lra). assert (V : 0 < M i r') by (unfold g2 in G2; lra).
  assert (D1 : 0 < d * M i r' <= d).
  { split; [apply Rmult_lt_0_compat; lra|]. rewrite <- (Rmult_1_r d) at 2. apply Rmult_le_compat_l; lra. }
  assert (D2 : 0 < d * M (S i) r <= d).
  { split; [apply Rmult_lt_0_compat; lra|]. rewrite <- (Rmult_1_r d) at 2. apply Rmult_le_compat_l; lra. }
  assert (Q1 : 0 <= d * M i r' * M (S i) r <= d).
  { split; [apply Rmult_le_pos; lra|]. apply Rle_trans with (d * M i r' * 1); [apply Rmult_le_compat_l|]; lra. }
  apply (no_profit (d * M i r') (d * M (S i) r) r r' i); try lia; try lra.
  - intros c Hc. destruct (bounds c Hc) as (E1 & E2 & E3 & E4).
    destruct (Nat.eq_dec c i) as [->|F1].
    { rewrite !moved_at_target by lia. rewrite Z1, Z2, !Rplus_0_l.
      replace (d * M (S i) r * M i r') with (d * M i r' * M (S i) r) by ring.
      assert (be * (d * M i r' * M (S i) r) <= 1 * (d * M i r' * M (S i) r)) by (apply Rmult_le_compat_r; lra). lra. }
    destruct (Nat.eq_dec c r) as [->|F2].
    { rewrite (moved_elsewhere _ r') by lia. rewrite moved_at_source by lia. unfold g1 in *. lra. }
    destruct (Nat.eq_dec c r') as [->|F3]; [|rewrite !moved_elsewhere by trivial; lra].
    rewrite (moved_elsewhere _ r) by lia. rewrite moved_at_source by lia.
    assert (0 <= be * (d * M (S i) r * M i r')) by (repeat apply Rmult_le_pos; lra). lra.
  - intros c Hc. destruct (bounds c Hc) as (E1 & E2 & E3 & E4).
    destruct (Nat.eq_dec c i) as [->|F1].
    { rewrite !moved_at_target by lia. rewrite Z1, Z2, !Rplus_0_l.
      replace (d * M (S i) r * M i r') with (d * M i r' * M (S i) r) by ring.
      assert (al * (d * M i r' * M (S i) r) <= 1 * (d * M i r' * M (S i) r)) by (apply Rmult_le_compat_r; lra). lra. }
    destruct (Nat.eq_dec c r) as [->|F2].
    { rewrite (moved_elsewhere _ r') by lia. rewrite moved_at_source by lia.
      assert (0 <= al * (d * M i r' * M (S i) r)) by (repeat apply Rmult_le_pos; lra). lra. }
    destruct (Nat.eq_dec c r') as [->|F3]; [|rewrite !moved_elsewhere by trivial; lra].
    rewrite (moved_elsewhere _ r) by lia. rewrite moved_at_source by lia.
    replace (d * M (S i) r * M i r') with (d * M i r' * M (S i) r) in * by ring. unfold g2 in *. lra.
Qed.

Lemma exchange r r' : (r < r')%nat -> (r' <= n)%nat -> tight_down r \/ tight_up r'.
Proof.
  intros H1 H2. destruct (le_lt_dec r' (S i)) as [L|L]; [apply exchange_right; trivial|].
  destruct (le_lt_dec i r) as [G|G]; [apply exchange_left; trivial|].
  destruct (exchange_right r i G ltac:(lia) ltac:(lia)) as [|T]; [tauto|].
  destruct (exchange_left i r' ltac:(lia) ltac:(lia) H2) as [D|]; [|tauto].
  unfold tight_up in T. unfold tight_down in D. destruct (bounds i ltac:(lia)) as (A1 & A2 & _).
  assert (Z2 : M (S i) i = 0).
  { rewrite T in D. assert (M (S i) i * (1 - be * al) = 0) by lra.
    pose proof (product_below_1 al be Hal Hbe). apply Rmult_integral in H. lra. }
  assert (Z1 : M i i = 0) by (rewrite T, Z2; ring).
  apply exchange_middle; trivial; lia.
Qed.

(** So there is a column: left of it every column is tight-down, right of it every column is tight-up. *)
Lemma turning_column : exists t, (t <= n)%nat /\ (forall c, (c < t)%nat -> tight_down c) /\
  (forall c, (t < c)%nat -> (c <= n)%nat -> tight_up c).
Proof.
  assert (G : forall m, (m <= n)%nat -> (forall c, (c < m)%nat -> tight_down c) \/
            exists t, (t < m)%nat /\ (forall c, (c < t)%nat -> tight_down c) /\ ~ tight_down t).
  { induction m as [|m IH]; intros Hm; [left; lia|]. destruct (IH ltac:(lia)) as [A|(t & Ht & A & B)].
    - destruct (classic (tight_down m)) as [T|T].
      + left. intros c Hc. destruct (Nat.eq_dec c m) as [->|]; trivial. apply A. lia.
      + right. exists m. split; [lia | split; trivial].
    - right. exists t. split; [lia | split; trivial]. }
  destruct (G n (Nat.le_refl n)) as [A|(t & Ht & A & B)].
  - exists n. split; [lia | split; [trivial | lia]].
  - exists t. split; [lia | split; [trivial|]]. intros c Hc Hn. destruct (exchange t c Hc Hn); tauto.
Qed.

End Exchange.

(** ** Step 2: turning columns do not move left *)

Section Turning.
Context (M : matrix) (HF : feasible M).

Definition turns (i t : nat) : Prop := (t <= n)%nat /\ (forall c, (c < t)%nat -> tight_down M i c) /\
  (forall c, (t < c)%nat -> (c <= n)%nat -> tight_up M i c).

Lemma turning_mass i t : (i < n)%nat -> turns i t ->
  (1 - al * be) * total (M i) (seq 0 t) <= 1 - al /\ 1 - al <= (1 - al * be) * (total (M i) (seq 0 t) + M i t).
Proof.
  intros Hi (Ht & Hd & Hu).
  pose proof (f_sum M HF i ltac:(lia)) as S1. pose proof (f_sum M HF (S i) ltac:(lia)) as S2.
  rewrite (Sig_split n t) in S1, S2 by trivial.
  assert (E1 : total (M (S i)) (seq 0 t) = be * total (M i) (seq 0 t)).
  { rewrite <- total_scal. apply total_ext. intros c Hc. apply in_seq in Hc. apply Hd. lia. }
  assert (E2 : total (M i) (seq (S t) (n - t)) = al * total (M (S i)) (seq (S t) (n - t))).
  { rewrite <- total_scal. apply total_ext. intros c Hc. apply in_seq in Hc. apply Hu; lia. }
  rewrite E1 in S2. rewrite E2 in S1.
  pose proof (f_down M HF i t Hi Ht) as D. pose proof (f_up M HF i t Hi Ht) as U.
  set (A := total (M i) (seq 0 t)) in *. set (B := total (M (S i)) (seq (S t) (n - t))) in *.
  assert (al * (be * A + M (S i) t + B) = al * 1) as S3 by (rewrite S2; ring).
  assert (al * (be * M i t) <= al * M (S i) t) by (apply Rmult_le_compat_l; lra). split; lra.
Qed.

Lemma turning_order i t t' : (S i < n)%nat -> turns i t -> turns (S i) t' -> (t <= t')%nat.
Proof.
  intros Hi T T'. apply Nat.nlt_ge. intros L.
  destruct (turning_mass i t ltac:(lia) T) as [P _]. destruct (turning_mass (S i) t' Hi T') as [_ Q].
  destruct T as (Ht & Hd & _).
  assert (E1 : total (M (S i)) (seq 0 t) = be * total (M i) (seq 0 t)).
  { rewrite <- total_scal. apply total_ext. intros c Hc. apply in_seq in Hc. apply Hd. lia. }
  assert (E2 : total (M (S i)) (seq 0 t') + M (S i) t' <= total (M (S i)) (seq 0 t)).
  { replace t with (S t' + (t - S t'))%nat by lia. rewrite seq_app, total_app, total_seq_S.
    assert (0 <= total (M (S i)) (seq (0 + S t') (t - S t'))); [|lra].
    rewrite <- (Rmult_0_l (total (fun _ => 0) (seq (0 + S t') (t - S t')))), <- total_scal. apply total_le.
    intros c Hc. apply in_seq in Hc. rewrite Rmult_0_l. apply (f_nonneg M HF); lia. }
  pose proof (product_below_1 al be Hal Hbe) as Hp.
  rewrite E1 in E2.
  assert ((1 - al * be) * (total (M (S i)) (seq 0 t') + M (S i) t') <= (1 - al * be) * (be * total (M i) (seq 0 t)))
    by (apply Rmult_le_compat_l; lra).
  assert (be * ((1 - al * be) * total (M i) (seq 0 t)) <= be * (1 - al)) by (apply Rmult_le_compat_l; lra).
  assert (be * (1 - al) < 1 * (1 - al)) by (apply Rmult_lt_compat_r; lra). lra.
Qed.

(** ** Step 3: so the mechanism is the geometric one, followed by a remap *)

Definition derived (i r : nat) : R := (1 + al * be) * M i r - al * M (S i) r - be * M (pred i) r.

Lemma derived_nonneg i t t' r : (S i < n)%nat -> turns i t -> turns (S i) t' -> (r <= n)%nat -> 0 <= derived (S i) r.
Proof.
  intros Hi T T' Hr. pose proof (turning_order i t t' Hi T T') as O. unfold derived. cbn [pred].
  destruct T as (Ht & Hd & Hu). destruct T' as (Ht' & Hd' & Hu'). unfold tight_down, tight_up in *.
  destruct (lt_dec r t') as [L|L].
  { rewrite (Hd' r L). pose proof (f_down M HF i r ltac:(lia) Hr). lra. }
  destruct (lt_dec t r) as [G|G].
  { rewrite (Hu r G Hr). pose proof (f_up M HF (S i) r Hi Hr). lra. }
  assert (r = t) as -> by lia. assert (t' = t) as -> by lia.
  assert (S0 : Sig n (derived (S i)) = (1 - al) * (1 - be)).
  { unfold derived. cbn [pred].
    rewrite (Sig_ext n _ (fun r => (1 + al * be) * M (S i) r + ((- al) * M (S (S i)) r + (- be) * M i r))) by (intros; ring).
    rewrite !Sig_plus, !Sig_scal, !(f_sum M HF) by lia. ring. }
  rewrite (Sig_one n t) in S0; trivial.
  - unfold derived in S0. cbn [pred] in S0. rewrite S0. apply Rmult_le_pos; lra.
  - intros c Hc Hn. unfold derived. cbn [pred]. destruct (lt_dec c t).
    + rewrite (Hd' c), (Hd c) by lia. ring.
    + rewrite (Hu c) by lia. rewrite (Hu' c) by lia. ring.
Qed.

End Turning.

(** The clamped geometric mechanism on 0..n, and the remap that makes M of it. *)
Definition G (i z : nat) : R :=
  if (z =? 0)%nat then (1 - al) / (1 - al * be) * be ^ i
  else if (z =? n)%nat then (1 - be) / (1 - al * be) * al ^ (n - i)
  else normaliser al be * weight al be (Z.of_nat z - Z.of_nat i).

Definition T (M : matrix) (z r : nat) : R :=
  if (z =? 0)%nat then (M 0%nat r - al * M 1%nat r) / (1 - al)
  else if (z =? n)%nat then (M n r - be * M (pred n) r) / (1 - be)
  else derived M z r / ((1 - al) * (1 - be)).

Lemma T_sum M z : (1 <= n)%nat -> feasible M -> (z <= n)%nat -> Sig n (T M z) = 1.
Proof.
  intros Hn HF Hz. unfold T. destruct (Nat.eqb_spec z 0) as [->|N0].
  - rewrite (Sig_ext n _ (fun r => / (1 - al) * (M 0%nat r + (- al) * M 1%nat r))) by (intros; field; lra).
    rewrite Sig_scal, Sig_plus, Sig_scal, !(f_sum M HF) by lia. field. lra.
  - destruct (Nat.eqb_spec z n) as [->|Nn].
    + rewrite (Sig_ext n _ (fun r => / (1 - be) * (M n r + (- be) * M (pred n) r))) by (intros; field; lra).
      rewrite Sig_scal, Sig_plus, Sig_scal, !(f_sum M HF) by lia. field. lra.
    + unfold derived. rewrite (Sig_ext n _ (fun r => / ((1 - al) * (1 - be)) *
        ((1 + al * be) * M z r + ((- al) * M (S z) r + (- be) * M (pred z) r)))) by (intros; field; lra).
      rewrite Sig_scal, !Sig_plus, !Sig_scal, !(f_sum M HF) by lia. field. lra.
Qed.

(** Σ of powers against differences telescopes, upwards and downwards. *)
Lemma telescope (x : nat -> R) be' m : Sig m (fun z => be' ^ (m - z) * (match z with O => x O | S z' => x z - be' * x z' end)) = x m.
Proof.
  induction m as [|m IH]; [rewrite Sig_0; simpl; ring|]. rewrite Sig_S, Nat.sub_diag.
  rewrite (Sig_ext m _ (fun z => be' * (be' ^ (m - z) * (match z with O => x O | S z' => x z - be' * x z' end)))).
  - rewrite Sig_scal, IH. simpl. ring.
  - intros z Hz. replace (S m - z)%nat with (S (m - z)) by lia. simpl. ring.
Qed.

Lemma telescope_up (y : nat -> R) al' i m : (i <= m)%nat ->
  total (fun z => al' ^ (z - i) * (y z - al' * y (S z))) (seq i (m - i)) + al' ^ (m - i) * y m = y i.
Proof.
  intros H. induction H as [|m H IH]; [rewrite Nat.sub_diag; simpl; ring|].
  replace (S m - i)%nat with (S (m - i)) by lia. rewrite seq_S, total_app. simpl total.
  replace (i + (m - i))%nat with m by lia. rewrite <- IH. simpl. ring.
Qed.

Section Factors.
Context (M : matrix) (r : nat) (Hn : (1 <= n)%nat) (i : nat) (Hi : (i <= n)%nat).

Definition D (z : nat) : R := M z r - al * M (S z) r.
Definition E (z : nat) : R := match z with O => M O r | S z' => M z r - be * M z' r end.

(** The terms of Σ_z G(i, z)·T(z, r), times 1 - αβ. *)
Definition term (z : nat) : R :=
  if (z =? 0)%nat then be ^ i * D 0
  else if (z =? n)%nat then al ^ (n - i) * E n
  else weight al be (Z.of_nat z - Z.of_nat i) * derived M z r.

Lemma term_is z : (z <= n)%nat -> (1 - al * be) * (G i z * T M z r) = term z.
Proof.
  intros Hz. pose proof (product_below_1 al be Hal Hbe) as Hp. unfold term, G, T, D, E, normaliser.
  destruct (Nat.eqb_spec z 0) as [->|N0]; [field; lra|].
  destruct (Nat.eqb_spec z n) as [->|Nn]; [|field; lra]. destruct n as [|n']; [lia|]. cbn [pred]. field; lra.
Qed.

Lemma left_part : (1 <= i)%nat -> total term (seq 0 i) = be * D (i - 1).
Proof.
  intros H. rewrite <- (telescope D be (i - 1)). unfold Sig. replace (S (i - 1)) with i by lia.
  rewrite <- total_scal. apply total_ext. intros z Hz. apply in_seq in Hz. unfold term.
  destruct (Nat.eqb_spec z 0) as [->|N0].
  - rewrite Nat.sub_0_r. replace i with (S (i - 1)) at 1 by lia. simpl. ring.
  - destruct (Nat.eqb_spec z n); [lia|]. unfold weight. destruct (Z.leb_spec 0 (Z.of_nat z - Z.of_nat i)); [lia|].
    replace (Z.to_nat (- (Z.of_nat z - Z.of_nat i))) with (S (i - 1 - z)) by lia.
    destruct z as [|z]; [lia|]. unfold derived, D. cbn [pred]. simpl. ring.
Qed.

Lemma right_part : (i < n)%nat -> total term (seq (S i) (n - i)) = al * E (S i).
Proof.
  intros H. rewrite <- (telescope_up E al (S i) n) by lia.
  replace (n - i)%nat with (S (n - S i)) by lia. rewrite seq_S, total_app. simpl (total term [_]).
  replace (S i + (n - S i))%nat with n by lia. replace (term (S (i + (n - S i)))) with (al ^ (n - i) * E n).
  2: { replace (S (i + (n - S i))) with n by lia. unfold term. destruct (Nat.eqb_spec n 0); [lia|].
       rewrite Nat.eqb_refl. trivial. }
  replace (al ^ (n - i)) with (al * al ^ (n - S i)) by (replace (n - i)%nat with (S (n - S i)) by lia; reflexivity).
  rewrite Rmult_plus_distr_l, <- total_scal.
  rewrite (total_ext term (fun z => al * (al ^ (z - S i) * (E z - al * E (S z))))); [ring|].
  intros z Hz. apply in_seq in Hz. unfold term. destruct (Nat.eqb_spec z 0); [lia|]. destruct (Nat.eqb_spec z n); [lia|].
  unfold weight. destruct (Z.leb_spec 0 (Z.of_nat z - Z.of_nat i)); [|lia].
  replace (Z.to_nat (Z.of_nat z - Z.of_nat i)) with (S (z - S i)) by lia.
  destruct z as [|z]; [lia|]. unfold derived, E. cbn [pred]. simpl pow. ring.
Qed.

Lemma factors : Sig n (fun z => G i z * T M z r) = M i r.
Proof.
  pose proof (product_below_1 al be Hal Hbe) as Hp.
  apply Rmult_eq_reg_l with (1 - al * be); [|lra]. rewrite <- Sig_scal, (Sig_ext n _ term) by apply term_is.
  rewrite (Sig_split n i) by trivial. destruct (Nat.eq_dec i 0) as [E0|N0]; [|destruct (Nat.eq_dec i n) as [En|Nn]].
  - rewrite right_part by lia. unfold term. rewrite E0. simpl. unfold D. ring.
  - rewrite left_part by lia. rewrite En, Nat.sub_diag. unfold term. destruct (Nat.eqb_spec n 0); [lia|].
    rewrite Nat.eqb_refl, En, Nat.sub_diag. destruct n as [|n']; [lia|]. unfold D, E.
    replace (S n' - 1)%nat with n' by lia. simpl. ring.
  - rewrite left_part, right_part by lia. unfold term. destruct (Nat.eqb_spec i 0); [lia|]. destruct (Nat.eqb_spec i n); [lia|].
    unfold weight. rewrite Z.sub_diag. simpl (Z.to_nat 0). simpl (0 <=? 0)%Z. destruct i as [|i']; [lia|].
    replace (S i' - 1)%nat with i' by lia. unfold derived, D, E. cbn [pred]. simpl. ring.
Qed.

End Factors.

(** *** So the loss of M is that of G with a (randomised) remap, and the best remap is at least as good *)

Fixpoint argmin (f : nat -> R) (m : nat) : nat :=
  match m with O => O | S m => if Rlt_dec (f (S m)) (f (argmin f m)) then S m else argmin f m end.

Lemma argmin_least f m : (argmin f m <= m)%nat /\ forall r, (r <= m)%nat -> f (argmin f m) <= f r.
Proof.
  induction m as [|m [IH1 IH2]]; [split; [trivial|]; intros r Hr; replace r with O by lia; simpl; lra|].
  simpl. destruct (Rlt_dec (f (S m)) (f (argmin f m))) as [L|L]; (split; [lia|]); intros r Hr;
    (destruct (Nat.eq_dec r (S m)) as [->|]; [lra|]); specialize (IH2 r ltac:(lia)); lra.
Qed.

(** What guess r costs when the output is z; and the best guess for it, which is what a Bayesian reader does. *)
Definition score (W : matrix) (z r : nat) : R := Sig n (fun i => G i z * W i r).
Definition remap (W : matrix) (z : nat) : nat := argmin (score W z) n.

(** The loss of G with its best remap. *)
Definition remapped (W : matrix) : R := Sig n (fun z => score W z (remap W z)).

Lemma G_nonneg i z : 0 <= G i z.
Proof.
  pose proof (product_below_1 al be Hal Hbe) as Hp. unfold G.
  assert (0 <= al ^ (n - i)) by (apply pow_le; lra). assert (0 <= be ^ i) by (apply pow_le; lra).
  destruct (z =? 0)%nat; [|destruct (z =? n)%nat].
  - apply Rmult_le_pos; trivial. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra].
  - apply Rmult_le_pos; trivial. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra].
  - apply Rmult_le_pos; [left; apply normaliser_pos; trivial | apply weight_nonneg; trivial].
Qed.

Lemma derivable_value W M : (1 <= n)%nat -> feasible M -> (forall z r, (z <= n)%nat -> (r <= n)%nat -> 0 <= T M z r) ->
  remapped W <= value W M.
Proof.
  intros Hn HF HT.
  assert (E : value W M = Sig n (fun z => Sig n (fun r => T M z r * score W z r))).
  { unfold value, score.
    rewrite (Sig_ext n _ (fun i => Sig n (fun z => Sig n (fun r => G i z * T M z r * W i r)))).
    - rewrite Sig_swap. apply Sig_ext. intros z _. rewrite Sig_swap. apply Sig_ext. intros r _.
      rewrite <- Sig_scal. apply Sig_ext. intros i _. ring.
    - intros i Hi. rewrite Sig_swap. apply Sig_ext. intros r _. rewrite <- (factors M r Hn i Hi), <- Sig_scal.
      apply Sig_ext. intros z _. ring. }
  rewrite E. unfold remapped. apply Sig_le. intros z Hz.
  rewrite <- (Rmult_1_l (score W z (remap W z))), <- (T_sum M z Hn HF Hz), Rmult_comm, <- Sig_scal.
  apply Sig_le. intros r Hr. rewrite Rmult_comm. apply Rmult_le_compat_l; [apply HT; trivial|].
  apply (argmin_least (score W z) n); trivial.
Qed.

Lemma optimal_remapped W M : (1 <= n)%nat -> strictly_monotone W -> optimal W M -> remapped W <= value W M.
Proof.
  intros Hn HW HM. pose proof (proj1 HM) as HF. apply derivable_value; trivial. intros z r Hz Hr.
  pose proof (product_below_1 al be Hal Hbe) as Hp. unfold T. destruct (Nat.eqb_spec z 0) as [->|N0]; [|destruct (Nat.eqb_spec z n) as [->|Nn]].
  - apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. pose proof (f_up M HF 0 r ltac:(lia) Hr). lra.
  - apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. 
    pose proof (f_down M HF (pred n) r ltac:(lia) Hr) as Hd. replace (S (pred n)) with n in Hd by lia. lra.
  - apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra]. destruct z as [|z]; [lia|].
    destruct (turning_column W M HW HM z ltac:(lia)) as (t & T1). destruct (turning_column W M HW HM (S z) ltac:(lia)) as (t' & T2).
    apply (derived_nonneg M HF z t t' r ltac:(lia) T1 T2 Hr).
Qed.

(** ** An optimum exists *)

(** A bounded nested family of matrices has a point that it comes near to, at any finite list of places. *)
Lemma adherent (l : list (nat * nat)) : forall (F : R -> matrix -> Prop),
  (forall e e' M, e <= e' -> F e M -> F e' M) -> (forall e, 0 < e -> exists M, F e M) ->
  (forall e M i r, F e M -> In (i, r) l -> 0 <= M i r <= 1) ->
  exists X : matrix, forall e, 0 < e -> exists M, F e M /\ forall i r, In (i, r) l -> Rabs (M i r - X i r) < e.
Proof.
  induction l as [|[i r] l IH]; intros F Hm Hne Hb.
  - exists (fun _ _ => 0). intros e He. destruct (Hne e He) as (M & HM). exists M. split; trivial. intros i r [].
  - destruct (completeness (fun t => forall e, 0 < e -> exists M, F e M /\ t <= M i r)) as [x [Hu Hl]].
    + exists 1. intros t Ht. destruct (Ht 1 Rlt_0_1) as (M & HM & Hle). pose proof (Hb 1 M i r HM ltac:(left; trivial)). lra.
    + exists 0. intros e He. destruct (Hne e He) as (M & HM). exists M. split; trivial.
      apply (Hb e M i r HM). left; trivial.
    + assert (Near : forall e, 0 < e -> exists M, F e M /\ Rabs (M i r - x) < e).
      { intros e He.
        assert (exists e1, 0 < e1 /\ forall M, F e1 M -> M i r < x + e / 2) as (e1 & He1 & H1).
        { apply NNPP. intros N. assert (x + e / 2 <= x); [|lra]. apply Hu. intros e1 He1.
          apply NNPP. intros N'. apply N. exists e1. split; trivial. intros M HM. apply Rnot_le_lt. intros Hle.
          apply N'. exists M. split; trivial. }
        assert (exists t, x - e < t /\ forall e, 0 < e -> exists M, F e M /\ t <= M i r) as (t & Ht & Hte).
        { apply NNPP. intros N. assert (x <= x - e); [|lra]. apply Hl. intros t Ht. apply Rnot_lt_le. intros Hlt.
          apply N. exists t. split; trivial. }
        destruct (Hte (Rmin e e1)) as (M & HM & Hle); [apply Rmin_glb_lt; trivial|].
        exists M. split; [apply (Hm (Rmin e e1)); trivial; apply Rmin_l|].
        pose proof (H1 M (Hm _ _ _ (Rmin_r e e1) HM)). apply Rabs_def1; lra. }
      destruct (IH (fun e M => F e M /\ Rabs (M i r - x) < e)) as (X & HX).
      * intros e e' M He [H1 H2]. split; [apply (Hm e)|]; trivial. lra.
      * exact Near.
      * intros e M i' r' [HM _] Hin. apply (Hb e M i' r' HM). right; trivial.
      * exists (fun i' r' => if andb (i' =? i)%nat (r' =? r)%nat then x else X i' r'). intros e He.
        destruct (HX e He) as (M & [HM H1] & H2). exists M. split; trivial. intros i' r' Hin.
        destruct (Nat.eqb_spec i' i) as [->|]; [destruct (Nat.eqb_spec r' r) as [->|]|]; cbn [andb]; trivial;
          apply H2; destruct Hin as [E|]; trivial; inversion E; subst; tauto.
Qed.

Lemma small_enough a b c : 0 <= c -> (forall e, 0 < e -> a <= b + c * e) -> a <= b.
Proof.
  intros Hc H. apply Rnot_lt_le. intros L. destruct Hc as [Hc|<-]; [|specialize (H 1 Rlt_0_1); lra].
  specialize (H ((a - b) / (2 * c))). assert (0 < (a - b) / (2 * c)) by (apply Rdiv_lt_0_compat; lra).
  specialize (H H0). replace (c * ((a - b) / (2 * c))) with ((a - b) / 2) in H by (field; lra). lra.
Qed.

Definition places : list (nat * nat) := list_prod (seq 0 (S n)) (seq 0 (S n)).

Lemma in_places i r : (i <= n)%nat -> (r <= n)%nat -> In (i, r) places.
Proof. intros. apply in_prod; apply in_seq; lia. Qed.

Lemma value_near W M X e : (forall i r, (i <= n)%nat -> (r <= n)%nat -> Rabs (M i r - X i r) < e) ->
  value W X <= value W M + Sig n (fun i => Sig n (fun r => Rabs (W i r))) * e.
Proof.
  intros H. unfold value. rewrite Rmult_comm, <- Sig_scal, <- Sig_plus. apply Sig_le. intros i Hi.
  rewrite <- Sig_scal, <- Sig_plus. apply Sig_le. intros r Hr. specialize (H i r Hi Hr).
  assert (W i r * (X i r - M i r) <= Rabs (W i r) * e).
  { eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult, (Rabs_minus_sym (X i r)).
    apply Rmult_le_compat_l; [apply Rabs_pos | lra]. }
  lra.
Qed.

Lemma optimum_exists W : (exists M, feasible M) -> exists M, optimal W M.
Proof.
  intros [M0 H0].
  assert (Bd : forall M, feasible M -> - Sig n (fun i => Sig n (fun r => Rabs (W i r))) <= value W M).
  { intros M HM. unfold value. rewrite <- (Rmult_1_l (Sig n _)), <- Ropp_mult_distr_l_reverse, <- Sig_scal.
    apply Sig_le. intros i Hi. rewrite <- Sig_scal. apply Sig_le. intros r Hr.
    pose proof (f_nonneg M HM i r Hi Hr). pose proof (feasible_le_1 M i r HM Hi Hr).
    assert (Rabs (W i r * M i r) <= Rabs (W i r) * 1).
    { rewrite Rabs_mult, (Rabs_pos_eq (M i r)) by trivial. apply Rmult_le_compat_l; [apply Rabs_pos | trivial]. }
    pose proof (Rle_abs (- (W i r * M i r))) as Q. rewrite Rabs_Ropp in Q. lra. }
  destruct (completeness (fun v => exists M, feasible M /\ v = - value W M)) as [m [Hu Hl]].
  { exists (Sig n (fun i => Sig n (fun r => Rabs (W i r)))). intros v (M & HM & ->). specialize (Bd M HM). lra. }
  { exists (- value W M0), M0. split; trivial. }
  destruct (adherent places (fun e M => feasible M /\ value W M <= - m + e)) as (X & HX).
  - intros e e' M He [HM Hv]. split; trivial. lra.
  - intros e He. apply NNPP. intros N. assert (m <= m - e); [|lra]. apply Hl. intros v (M & HM & ->).
    apply Rnot_lt_le. intros L. apply N. exists M. split; trivial. lra.
  - intros e M i r [HM _] Hin. apply in_prod_iff in Hin. destruct Hin as [Hi Hr]. apply in_seq in Hi, Hr.
    split; [apply f_nonneg | apply feasible_le_1]; trivial; lia.
  - assert (NX : forall e, 0 < e -> exists M, feasible M /\ value W M <= - m + e /\
              forall i r, (i <= n)%nat -> (r <= n)%nat -> Rabs (M i r - X i r) < e).
    { intros e He. destruct (HX e He) as (M & [HM Hv] & H). exists M. repeat split; try apply HM; trivial.
      intros i r Hi Hr. apply H, in_places; trivial. }
    assert (FX : feasible X).
    { split.
      - intros i r Hi Hr. apply (small_enough 0 (X i r) 1); [lra|]. intros e He. destruct (NX e He) as (M & HM & _ & H).
        specialize (H i r Hi Hr). apply Rabs_def2 in H. pose proof (f_nonneg M HM i r Hi Hr). lra.
      - intros i Hi.
        assert (B : forall e, 0 < e -> Rabs (1 - Sig n (X i)) <= INR (S n) * e).
        { intros e He. destruct (NX e He) as (M & HM & _ & H). rewrite <- (f_sum M HM i Hi).
          replace (Sig n (M i) - Sig n (X i)) with (Sig n (fun r => M i r + -1 * X i r)).
          - rewrite <- Sig_const. eapply Rle_trans; [apply Sig_abs|]. apply Sig_le. intros r Hr. left.
            replace (M i r + -1 * X i r) with (M i r - X i r) by ring. apply H; trivial.
          - rewrite Sig_plus, Sig_scal. ring. }
        apply Rle_antisym; apply (small_enough _ _ (INR (S n))); try apply pos_INR; intros e He; specialize (B e He);
          pose proof (Rle_abs (1 - Sig n (X i))); pose proof (Rle_abs (- (1 - Sig n (X i)))); rewrite Rabs_Ropp in *; lra.
      - intros i r Hi Hr. apply (small_enough _ _ 2); [lra|]. intros e He. destruct (NX e He) as (M & HM & _ & H).
        pose proof (Rabs_def2 _ _ (H i r ltac:(lia) Hr)) as [A1 A2]. pose proof (Rabs_def2 _ _ (H (S i) r Hi Hr)) as [B1 B2].
        pose proof (f_down M HM i r Hi Hr). assert (be * X i r <= be * (M i r + e)) by (apply Rmult_le_compat_l; lra).
        assert (be * e <= 1 * e) by (apply Rmult_le_compat_r; lra). lra.
      - intros i r Hi Hr. apply (small_enough _ _ 2); [lra|]. intros e He. destruct (NX e He) as (M & HM & _ & H).
        pose proof (Rabs_def2 _ _ (H i r ltac:(lia) Hr)) as [A1 A2]. pose proof (Rabs_def2 _ _ (H (S i) r Hi Hr)) as [B1 B2].
        pose proof (f_up M HM i r Hi Hr). assert (al * X (S i) r <= al * (M (S i) r + e)) by (apply Rmult_le_compat_l; lra).
        assert (al * e <= 1 * e) by (apply Rmult_le_compat_r; lra). lra. }
    exists X. split; trivial. intros M HM.
    assert (V : value W X <= - m).
    { set (C := Sig n (fun i => Sig n (fun r => Rabs (W i r)))).
      assert (0 <= C) by (apply Sig_nonneg; intros; apply Sig_nonneg; intros; apply Rabs_pos).
      apply (small_enough _ _ (1 + C)); [lra|]. intros e He. destruct (NX e He) as (M' & _ & Hv & H').
      pose proof (value_near W M' X e H'). fold C in H1. lra. }
    assert (- value W M <= m) by (apply Hu; exists M; split; trivial). lra.
Qed.

(** ** The theorem, for matrices: weak losses and priors with zeros are limits of strict ones *)

Definition distance_loss (i r : nat) : R := Rabs (INR i - INR r).

Lemma distance_strict eta W : 0 < eta -> monotone W -> strictly_monotone (fun i r => W i r + eta * distance_loss i r).
Proof.
  intros He HW i r r' Hi Hr Hr'. destruct (HW i r r' Hi Hr Hr') as [H1 H2]. unfold distance_loss.
  pose proof (lt_INR _ _ Hr) as L. split; intros H.
  - specialize (H1 H). apply le_INR in H. rewrite !Rabs_pos_eq by lra.
    assert (eta * (INR i - INR r') < eta * (INR i - INR r)) by (apply Rmult_lt_compat_l; lra). lra.
  - specialize (H2 H). apply le_INR in H. rewrite !(Rabs_minus_sym (INR i)), !Rabs_pos_eq by lra.
    assert (eta * (INR r - INR i) < eta * (INR r' - INR i)) by (apply Rmult_lt_compat_l; lra). lra.
Qed.

Theorem remapped_is_least W M : (1 <= n)%nat -> monotone W -> feasible M -> remapped W <= value W M.
Proof.
  intros Hn HW HM.
  set (C := value distance_loss M).
  assert (HC : 0 <= C).
  { apply Sig_nonneg. intros i Hi. apply Sig_nonneg. intros r Hr. apply Rmult_le_pos; [apply Rabs_pos | apply f_nonneg; trivial]. }
  apply (small_enough _ _ C HC). intros eta He.
  set (We := fun i r => W i r + eta * distance_loss i r).
  destruct (optimum_exists We (ex_intro _ M HM)) as (X & HX).
  pose proof (optimal_remapped We X Hn (distance_strict eta W He HW) HX) as H1. pose proof (proj2 HX M HM) as H2.
  assert (H3 : value We M = value W M + C * eta).
  { unfold C, value. rewrite Rmult_comm, <- Sig_scal, <- Sig_plus. apply Sig_ext. intros i _.
    rewrite <- Sig_scal, <- Sig_plus. apply Sig_ext. intros r _. unfold We. ring. }
  assert (H4 : remapped W <= remapped We).
  { unfold remapped. apply Sig_le. intros z Hz.
    apply Rle_trans with (score W z (remap We z)).
    - apply (argmin_least (score W z) n). apply argmin_least.
    - unfold score. apply Sig_le. intros i Hi. apply Rmult_le_compat_l; [apply G_nonneg|]. unfold We.
      assert (0 <= eta * distance_loss i (remap We z)) by (apply Rmult_le_pos; [lra | apply Rabs_pos]). unfold We in *. lra. }
  lra.
Qed.

End Matrices.
