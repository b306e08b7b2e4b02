(** Costs in [0, ∞], directed distances, and shortest paths of steps. *)

From Coq Require Import Reals Lra Lia Classical.
Open Scope R_scope.

(** ** Costs: a real number, or ∞ *)

Inductive cost := Fin (r : R) | Inf.

Definition cost_le (x y : cost) : Prop :=
  match x, y with _, Inf => True | Inf, Fin _ => False | Fin r, Fin s => r <= s end.

(** ∞ absorbs. *)
Definition cost_plus (x y : cost) : cost := match x, y with Fin r, Fin s => Fin (r + s) | _, _ => Inf end.

Definition cost_min (x y : cost) : cost :=
  match x, y with Inf, z | z, Inf => z | Fin r, Fin s => Fin (Rmin r s) end.

(** [n] times a cost; nothing times ∞ is nothing. *)
Fixpoint times (n : nat) (x : cost) : cost := match n with O => Fin 0 | S n => cost_plus x (times n x) end.

(** A real number times a cost, for numbers above 0. *)
Definition scale (c : R) (x : cost) : cost := match x with Fin r => Fin (c * r) | Inf => Inf end.

(** e^{-x}, which is 0 at ∞. *)
Definition decay (x : cost) : R := match x with Fin r => exp (- r) | Inf => 0 end.

Declare Scope cost_scope.
Delimit Scope cost_scope with cost.
Bind Scope cost_scope with cost.
Infix "+" := cost_plus : cost_scope.
Infix "<=" := cost_le : cost_scope.
Notation "0" := (Fin 0) : cost_scope.

Lemma cost_le_refl x : (x <= x)%cost.
Proof. destruct x; simpl; trivial. lra. Qed.

Lemma cost_le_Inf x : (x <= Inf)%cost.
Proof. destruct x; exact I. Qed.

Lemma cost_le_trans x y z : (x <= y)%cost -> (y <= z)%cost -> (x <= z)%cost.
Proof. destruct x, y, z; simpl; trivial; try tauto. lra. Qed.

Lemma cost_le_antisym x y : (x <= y)%cost -> (y <= x)%cost -> x = y.
Proof. destruct x, y; simpl; try tauto. intros. f_equal. lra. Qed.

Lemma cost_plus_le x x' y y' : (x <= x')%cost -> (y <= y')%cost -> (x + y <= x' + y')%cost.
Proof. destruct x, x', y, y'; simpl; trivial; try tauto. lra. Qed.

Lemma cost_plus_assoc x y z : (x + (y + z) = (x + y) + z)%cost.
Proof. destruct x, y, z; simpl; trivial. f_equal. lra. Qed.

Lemma cost_plus_comm x y : (x + y = y + x)%cost.
Proof. destruct x, y; simpl; trivial. f_equal. lra. Qed.

Lemma cost_plus_0 x : (x + 0 = x)%cost.
Proof. destruct x; simpl; trivial. f_equal. lra. Qed.

Lemma cost_0_plus x : (0 + x = x)%cost.
Proof. rewrite cost_plus_comm. apply cost_plus_0. Qed.

Lemma cost_plus_nonneg x y : (0 <= x -> 0 <= y -> 0 <= x + y)%cost.
Proof. destruct x, y; simpl; trivial. lra. Qed.

Lemma cost_min_le x y z : (z <= cost_min x y <-> z <= x /\ z <= y)%cost.
Proof.
  destruct x as [r|], y as [s|], z as [t|]; simpl; try tauto.
  pose proof (Rmin_l r s). pose proof (Rmin_r r s). split; [lra|]. intros [? ?]. apply Rmin_glb; trivial.
Qed.

Lemma times_plus n m x : (times (n + m) x = times n x + times m x)%cost.
Proof. induction n; cbn [times Nat.add]; [rewrite cost_0_plus | rewrite IHn, cost_plus_assoc]; trivial. Qed.

Lemma times_nonneg n x : (0 <= x -> 0 <= times n x)%cost.
Proof. intros H. induction n; [apply cost_le_refl | apply cost_plus_nonneg; trivial]. Qed.

Lemma times_le n m x : (0 <= x)%cost -> (n <= m)%nat -> (times n x <= times m x)%cost.
Proof.
  intros Hx H. replace m with (n + (m - n))%nat by lia. rewrite times_plus, <- (cost_plus_0 (times n x)) at 1.
  apply cost_plus_le; [apply cost_le_refl | apply times_nonneg; trivial].
Qed.

Lemma times_Fin n r : times n (Fin r) = Fin (INR n * r).
Proof. induction n; [simpl; f_equal; lra|]. rewrite S_INR. simpl. rewrite IHn. simpl. f_equal. lra. Qed.

Lemma decay_nonneg x : 0 <= decay x.
Proof. destruct x; simpl; [left; apply exp_pos | lra]. Qed.

Lemma decay_0 : decay 0 = 1.
Proof. simpl. rewrite Ropp_0. apply exp_0. Qed.

Lemma decay_plus x y : decay (x + y) = decay x * decay y.
Proof. destruct x, y; simpl; try lra. rewrite <- exp_plus. f_equal. lra. Qed.

Lemma decay_times n x : decay (times n x) = decay x ^ n.
Proof. induction n; [apply decay_0|]. simpl times. rewrite decay_plus, IHn. reflexivity. Qed.

Lemma exp_le_mono r s : r <= s -> exp r <= exp s.
Proof. intros [H| ->]; [left; apply exp_increasing; trivial | lra]. Qed.

Lemma decay_le x y : (x <= y)%cost -> decay y <= decay x.
Proof.
  destruct x, y; simpl; try tauto; try lra.
  - intros H. apply exp_le_mono. lra.
  - intros _. left. apply exp_pos.
Qed.

Lemma decay_le_1 x : (0 <= x)%cost -> decay x <= 1.
Proof. intros H. rewrite <- decay_0. apply decay_le; trivial. Qed.

(** ** Directed distances *)

Section Distances.
Context {X : Type}.
Implicit Types (d c : X -> X -> cost).

(** A directed distance (hemimetric): symmetry is not asked for, and ∞ is allowed. *)
Record hemimetric d : Prop := {
  d_nonneg : forall x y, (0 <= d x y)%cost;
  d_refl : forall x, d x x = Fin 0;
  d_triangle : forall x y z, (d x z <= d x y + d y z)%cost }.

Definition distance_plus d d' : X -> X -> cost := fun x y => (d x y + d' x y)%cost.
Definition distance_min d d' : X -> X -> cost := fun x y => cost_min (d x y) (d' x y).
Definition reverse d : X -> X -> cost := fun x y => d y x.

Theorem plus_hemimetric d d' : hemimetric d -> hemimetric d' -> hemimetric (distance_plus d d').
Proof.
  intros H H'. split; unfold distance_plus.
  - intros. apply cost_plus_nonneg; apply d_nonneg; trivial.
  - intros. rewrite !d_refl by trivial. simpl. f_equal. lra.
  - intros x y z. eapply cost_le_trans.
    + apply cost_plus_le; [apply (d_triangle _ H x y z) | apply (d_triangle _ H' x y z)].
    + destruct (d x y), (d y z), (d' x y), (d' y z); simpl; trivial. lra.
Qed.

Theorem reverse_hemimetric d : hemimetric d -> hemimetric (reverse d).
Proof.
  intros H. split; unfold reverse.
  - intros. apply d_nonneg; trivial.
  - intros. apply d_refl; trivial.
  - intros x y z. rewrite cost_plus_comm. apply d_triangle; trivial.
Qed.

(** A path from [x] to [y] of steps that cost [c], and what it costs. *)
Inductive path c : X -> X -> cost -> Prop :=
  | path_here x : path c x x (Fin 0)
  | path_step x y z e : path c y z e -> path c x z (c x y + e)%cost.

(** [shortest c D]: D is the shortest-path closure of the step costs [c], their greatest lower bound over all paths. *)
Definition shortest c (D : X -> X -> cost) : Prop := forall x y,
  (forall e, path c x y e -> (D x y <= e)%cost) /\
  (forall v, (forall e, path c x y e -> (v <= e)%cost) -> (v <= D x y)%cost).

Lemma path_join c x y z e f : path c x y e -> path c y z f -> path c x z (e + f)%cost.
Proof.
  induction 1 as [|x y' y e Hp IH]; intros Hf; [rewrite cost_0_plus; trivial|].
  rewrite <- cost_plus_assoc. constructor. auto.
Qed.

Lemma path_one c x y : path c x y (c x y).
Proof. rewrite <- (cost_plus_0 (c x y)). do 2 constructor. Qed.

Lemma shortest_le_step c D : shortest c D -> forall x y, (D x y <= c x y)%cost.
Proof. intros H x y. apply H, path_one. Qed.

Lemma shortest_near c D x y r : shortest c D -> D x y = Fin r -> forall s, r < s ->
  exists t, path c x y (Fin t) /\ t < s.
Proof.
  intros H E s Hs. apply NNPP. intros N.
  assert (Hv : (Fin s <= D x y)%cost).
  { apply H. intros [t|] Hp; simpl; trivial. apply Rnot_lt_le. intros Ht. apply N. eauto. }
  rewrite E in Hv. simpl in Hv. lra.
Qed.

(** The closure of step costs exists. *)
Theorem shortest_exists c : (forall x y, (0 <= c x y)%cost) -> exists D, shortest c D.
Proof.
  intros Hc.
  assert (Hp : forall x y e, path c x y e -> (0 <= e)%cost).
  { intros x y e H. induction H; [apply cost_le_refl | apply cost_plus_nonneg; trivial]. }
  assert (One : forall x y, {v | (forall e, path c x y e -> (v <= e)%cost) /\
                               (forall w, (forall e, path c x y e -> (w <= e)%cost) -> (w <= v)%cost)}).
  { intros x y. destruct (ClassicalDedekindReals.sig_not_dec (exists t, path c x y (Fin t))) as [Y|N].
    - apply NNPP in Y. destruct (completeness (fun t => path c x y (Fin (- t)))) as [m [Hu Hl]].
      + exists 0. intros t Ht. apply Hp in Ht. simpl in Ht. lra.
      + destruct Y as [t Ht]. exists (- t). rewrite Ropp_involutive. trivial.
      + exists (Fin (- m)). split.
        * intros [t|] Ht; simpl; trivial. rewrite <- (Ropp_involutive t) in Ht. specialize (Hu _ Ht). lra.
        * intros [w|] Hw; simpl.
          { assert (m <= - w); [|lra]. apply Hl. intros t Ht. apply Hw in Ht. simpl in Ht. lra. }
          { destruct Y as [t Ht]. apply (Hw _ Ht). }
    - exists Inf. split.
      + intros [t|] Ht; simpl; trivial. apply N. eauto.
      + intros [w|] _; simpl; trivial. }
  exists (fun x y => proj1_sig (One x y)). intros x y. apply proj2_sig.
Qed.

(** It is a directed distance, ... *)
Theorem shortest_hemimetric c D : (forall x y, (0 <= c x y)%cost) -> shortest c D -> hemimetric D.
Proof.
  intros Hc H.
  assert (Hp : forall x y e, path c x y e -> (0 <= e)%cost).
  { intros x y e Hq. induction Hq; [apply cost_le_refl | apply cost_plus_nonneg; trivial]. }
  split.
  - intros x y. apply H. apply Hp.
  - intros x. apply cost_le_antisym; [apply H; constructor | apply H, Hp].
  - intros x y z. destruct (D x y) as [r|] eqn:E1; [|apply cost_le_Inf].
    destruct (D y z) as [s|] eqn:E2; [|apply cost_le_Inf]. simpl.
    destruct (D x z) as [t|] eqn:E3.
    + simpl. apply Rnot_lt_le. intros Hlt.
      destruct (shortest_near c D x y r H E1 (r + (t - r - s) / 2)) as (u & Hu & Hu'); [lra|].
      destruct (shortest_near c D y z s H E2 (s + (t - r - s) / 2)) as (v & Hv & Hv'); [lra|].
      pose proof (proj1 (H x z) _ (path_join _ _ _ _ _ _ Hu Hv)) as Hle. rewrite E3 in Hle. simpl in Hle. lra.
    + destruct (shortest_near c D x y r H E1 (r + 1)) as (u & Hu & _); [lra|].
      destruct (shortest_near c D y z s H E2 (s + 1)) as (v & Hv & _); [lra|].
      pose proof (proj1 (H x z) _ (path_join _ _ _ _ _ _ Hu Hv)) as Hle. rewrite E3 in Hle. apply Hle.
Qed.

(** ... and the greatest one that no step exceeds. *)
Theorem shortest_greatest c D d : shortest c D -> hemimetric d -> (forall x y, (d x y <= c x y)%cost) ->
  forall x y, (d x y <= D x y)%cost.
Proof.
  intros H Hd Hc x y. apply H. intros e Hp. induction Hp as [x|x y z e Hp IH].
  - rewrite (d_refl _ Hd). apply cost_le_refl.
  - eapply cost_le_trans; [apply (d_triangle _ Hd x y z)|]. apply cost_plus_le; trivial.
Qed.

End Distances.
