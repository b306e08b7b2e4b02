(** Theorems that rest on a gap, each of another kind, and on the axioms of the real numbers besides. The compiler accepts all of
    them: check.py must refuse each, by a word of its source and by what Coq says that it assumes. *)

From Coq Require Import Reals Lra Program.
Open Scope R_scope.

(** An axiom, cut in two by no more than a comment. *)
Axiom(* *)given_axiom : exp 1 < exp 0.
Theorem by_axiom : exp 1 < exp 0.
Proof. exact given_axiom. Qed.

(** A proof left open. *)
Theorem by_admitted : exp 1 < exp 0.
Admitted.

(** An obligation that nobody meets. *)
Program Definition obliged : exp 1 < exp 0 := _.
Admit Obligations.
Theorem by_obligation : exp 1 < exp 0.
Proof. exact obliged. Qed.

(** An instance that is only declared. *)
Class Gap : Prop := gap_closed : exp 1 < exp 0.
#[global] Declare Instance declared : Gap.
Theorem by_instance : exp 1 < exp 0.
Proof. exact gap_closed. Qed.

(** A hypothesis outside of any section. *)
Hypothesis supposed : exp 1 < exp 0.
Theorem by_hypothesis : exp 1 < exp 0.
Proof. exact supposed. Qed.

(** A recursion that does not end. *)
Unset(* *)Guard Checking.
Fixpoint loop (n : nat) : False := loop n.
Theorem by_loop : exp 1 < exp 0.
Proof. pose proof (exp_increasing 0 1). destruct (loop 0). Qed.
Set Guard Checking.

(** The same by an attribute, after something that only looks like the end of a comment. *)
Lemma after_a_star (H : True) : True.
Proof. (simpl in *). exact I. Qed.
#[bypass_check(guard)] Fixpoint round (n : nat) : False := round n.
Theorem by_attribute : exp 1 < exp 0.
Proof. pose proof (exp_increasing 0 1). destruct (round 0). Qed.

(** A type that holds functions of itself. *)
Unset(* *)Positivity Checking.
Inductive bad := Bad (f : bad -> False).
Set Positivity Checking.
Theorem by_bad_type : exp 1 < exp 0.
Proof.
  pose proof (exp_increasing 0 1). exfalso. assert (bad -> False) as f by (intros [g]; exact (g (Bad g))). exact (f (Bad f)).
Qed.

(** A type of all types, itself included. *)
Unset(* *)Universe Checking.
Definition all_types : Type := Type.
Theorem by_universe : exists T : Type, T = all_types /\ exp 0 < exp 1.
Proof. exists all_types. split; [reflexivity|]. apply exp_increasing. lra. Qed.
