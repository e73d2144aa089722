prelude

/-!
A small core for Lean, sci_gym's own: what the tasks of `envs/lean/tasks` need of the module `Init`, for a
Lean that comes without one. It is no part of Lean, and no replacement of its `Init`: see docs/lean.md.

Names and statements are those of Lean's core wherever both have them, since Lean's elaborator asks for them
by name. The axioms below stand for types that only compiled code looks into, for what compiled code erases,
and for `sorry`; no theorem that the judge accepts rests on one of them.
-/

set_option linter.defProp false
universe u v w

unsafe axiom lcErased : Type
unsafe axiom lcAny : Type
unsafe axiom lcVoid : Type
unsafe axiom lcProof {α : Prop} : α
unsafe axiom lcCast {α : Sort u} {β : Sort v} (a : α) : β
unsafe axiom lcUnreachable {α : Sort u} : α

set_option bootstrap.inductiveCheckResultingUniverse false in
inductive PUnit : Sort u where
  | unit : PUnit
abbrev Unit : Type := PUnit
@[match_pattern] abbrev Unit.unit : Unit := PUnit.unit
def id {α : Sort u} (a : α) : α := a
def Function.const {α : Sort u} (β : Sort v) (a : α) : β → α := fun _ => a
set_option checkBinderAnnotations false in
abbrev inferInstance {α : Sort u} [i : α] : α := i
set_option checkBinderAnnotations false in
abbrev «inferInstanceAs» (α : Sort u) [i : α] : α := i

/-! ## Equality -/

inductive Eq : α → α → Prop where
  | refl (a : α) : Eq a a
abbrev Eq.ndrec.{u1, u2} {α : Sort u2} {a : α} {motive : α → Sort u1} (m : motive a) {b : α} (h : Eq a b) : motive b :=
  h.rec m
@[match_pattern] def rfl {α : Sort u} {a : α} : Eq a a := Eq.refl a
theorem Eq.subst {α : Sort u} {motive : α → Prop} {a b : α} (h₁ : Eq a b) (h₂ : motive a) : motive b :=
  Eq.ndrec h₂ h₁
theorem Eq.symm {α : Sort u} {a b : α} (h : Eq a b) : Eq b a :=
  Eq.ndrec (motive := fun x => Eq x a) rfl h
theorem Eq.trans {α : Sort u} {a b c : α} (h₁ : Eq a b) (h₂ : Eq b c) : Eq a c :=
  Eq.ndrec h₁ h₂
theorem congrArg {α : Sort u} {β : Sort v} {a b : α} (f : α → β) (h : Eq a b) : Eq (f a) (f b) :=
  Eq.ndrec (motive := fun x => Eq (f a) (f x)) rfl h
theorem congr {α : Sort u} {β : Sort v} {f g : α → β} {a b : α} (h : Eq f g) (h' : Eq a b) : Eq (f a) (g b) :=
  Eq.ndrec (motive := fun (k : α → β) => Eq (f a) (k b)) (congrArg f h') h
theorem congrFun {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : Eq f g) (a : α) : Eq (f a) (g a) :=
  Eq.ndrec (motive := fun (k : (x : α) → β x) => Eq (f a) (k a)) rfl h
def cast {α β : Sort u} (h : Eq α β) (a : α) : β := Eq.ndrec (motive := fun x => x) a h
def Eq.mp {α β : Sort u} (h : Eq α β) (a : α) : β := Eq.ndrec (motive := fun x => x) a h
def Eq.mpr {α β : Sort u} (h : Eq α β) (b : β) : α := h.symm.mp b
inductive HEq : {α : Sort u} → α → {β : Sort u} → β → Prop where
  | refl (a : α) : HEq a a
@[match_pattern] protected def HEq.rfl {α : Sort u} {a : α} : HEq a a := HEq.refl a
theorem eq_of_heq {α : Sort u} {a a' : α} (h : HEq a a') : Eq a a' :=
  have aux : (β : Sort u) → (b : β) → HEq a b → (e : Eq α β) → Eq (cast e a) b :=
    fun _ _ h' => @HEq.rec α a (fun {γ} c _ => (e : Eq α γ) → Eq (cast e a) c) (fun _ => Eq.refl a) _ _ h'
  aux α a' h rfl
theorem heq_of_eq {α : Sort u} {a a' : α} (h : Eq a a') : HEq a a' :=
  Eq.ndrec (motive := fun x => HEq a x) (HEq.refl a) h

/-! ## Logic -/

inductive Bool : Type where
  | false : Bool
  | true : Bool
export Bool (false true)
inductive True : Prop where
  | intro : True
inductive False : Prop
inductive Empty : Type
structure PProd (α : Sort u) (β : Sort v) where
  fst : α
  snd : β
structure MProd (α β : Type u) where
  fst : α
  snd : β
structure Prod (α : Type u) (β : Type v) where
  mk ::
  fst : α
  snd : β
structure And (a b : Prop) : Prop where
  intro ::
  left : a
  right : b
inductive Or (a b : Prop) : Prop where
  | inl (h : a) : Or a b
  | inr (h : b) : Or a b
def Not (a : Prop) : Prop := a → False
structure Iff (a b : Prop) : Prop where
  intro ::
  mp : a → b
  mpr : b → a
inductive Exists {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Exists p
def False.elim {C : Sort u} (h : False) : C := h.rec
def absurd {a : Prop} {b : Sort v} (h₁ : a) (h₂ : Not a) : b := (h₂ h₁).rec
abbrev Ne {α : Sort u} (a b : α) : Prop := Not (Eq a b)
class inductive Decidable (p : Prop) where
  | isFalse (h : Not p) : Decidable p
  | isTrue (h : p) : Decidable p
abbrev DecidableEq (α : Sort u) := (a b : α) → Decidable (Eq a b)
def cond {α : Sort u} (c : Bool) (x y : α) : α :=
  match c with
  | true => x
  | false => y
@[reducible] def optParam (α : Sort u) (_default : α) : Sort u := α
abbrev outParam (α : Sort u) : Sort u := α

structure PULift.{r, s} (α : Sort s) : Sort (max s 1 r) where
  up ::
  down : α
def wfParam {α : Sort u} (a : α) : α := a
class Inhabited (α : Sort u) where
  default : α
export Inhabited (default)
class inductive Nonempty (α : Sort u) : Prop where
  | intro (val : α) : Nonempty α
class CoeFun (α : Sort u) (γ : outParam (α → Sort v)) where
  coe : (f : α) → γ f
class CoeSort (α : Sort u) (β : outParam (Sort v)) where
  coe : α → β
class CoeT (α : Sort u) (_ : α) (β : Sort v) where
  coe : β
instance instInhabitedProp : Inhabited Prop where
  default := True

/-! ## Numbers -/

set_option genCtorIdx false in
inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat
class OfNat (α : Type u) (_ : Nat) where
  ofNat : α
@[default_instance 100] instance instOfNatNat (n : Nat) : OfNat Nat n where
  ofNat := n
class HAdd (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hAdd : α → β → γ
attribute [match_pattern] HAdd.hAdd
class HSub (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hSub : α → β → γ
class HMul (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hMul : α → β → γ
class HPow (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hPow : α → β → γ
class HAppend (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hAppend : α → β → γ
class Add (α : Type u) where
  add : α → α → α
attribute [match_pattern] Add.add
class Sub (α : Type u) where
  sub : α → α → α
class Mul (α : Type u) where
  mul : α → α → α
class Append (α : Type u) where
  append : α → α → α
class LE (α : Type u) where
  le : α → α → Prop
class LT (α : Type u) where
  lt : α → α → Prop
def GE.ge {α : Type u} [LE α] (a b : α) : Prop := LE.le b a
def GT.gt {α : Type u} [LT α] (a b : α) : Prop := LT.lt b a
@[default_instance] instance instHAdd {α : Type u} [Add α] : HAdd α α α where
  hAdd := fun a b => Add.add a b
@[default_instance] instance instHSub {α : Type u} [Sub α] : HSub α α α where
  hSub := fun a b => Sub.sub a b
@[default_instance] instance instHMul {α : Type u} [Mul α] : HMul α α α where
  hMul := fun a b => Mul.mul a b
instance instHAppendOfAppend {α : Type u} [Append α] : HAppend α α α where
  hAppend := fun a b => Append.append a b
@[match_pattern, extern "lean_nat_add"] protected def Nat.add (n m : Nat) : Nat :=
  match m with
  | Nat.zero => n
  | Nat.succ m => Nat.succ (Nat.add n m)
@[extern "lean_nat_mul"] protected def Nat.mul (n m : Nat) : Nat :=
  match m with
  | Nat.zero => Nat.zero
  | Nat.succ m => Nat.add (Nat.mul n m) n
@[extern "lean_nat_pred"] def Nat.pred (n : Nat) : Nat :=
  match n with
  | Nat.zero => Nat.zero
  | Nat.succ n => n
@[extern "lean_nat_sub"] protected def Nat.sub (n m : Nat) : Nat :=
  match m with
  | Nat.zero => n
  | Nat.succ m => Nat.pred (Nat.sub n m)
@[extern "lean_nat_pow"] protected def Nat.pow (n m : Nat) : Nat :=
  match m with
  | Nat.zero => Nat.succ Nat.zero
  | Nat.succ m => Nat.mul (Nat.pow n m) n
@[extern "lean_nat_dec_eq"] def Nat.beq (n m : Nat) : Bool :=
  match n, m with
  | Nat.zero, Nat.zero => true
  | Nat.zero, Nat.succ _ => false
  | Nat.succ _, Nat.zero => false
  | Nat.succ n, Nat.succ m => Nat.beq n m
@[extern "lean_nat_dec_le"] def Nat.ble (n m : Nat) : Bool :=
  match n, m with
  | Nat.zero, Nat.zero => true
  | Nat.zero, Nat.succ _ => true
  | Nat.succ _, Nat.zero => false
  | Nat.succ n, Nat.succ m => Nat.ble n m
instance instAddNat : Add Nat where
  add := Nat.add
instance instMulNat : Mul Nat where
  mul := Nat.mul
instance instSubNat : Sub Nat where
  sub := Nat.sub
@[extern "lean_nat_dec_eq"] def Nat.decEq (n m : Nat) : Decidable (Eq n m) :=
  match n, m with
  | Nat.zero, Nat.zero => Decidable.isTrue rfl
  | Nat.zero, Nat.succ _ => Decidable.isFalse (fun h => Nat.noConfusion h)
  | Nat.succ _, Nat.zero => Decidable.isFalse (fun h => Nat.noConfusion h)
  | Nat.succ n, Nat.succ m =>
    match Nat.decEq n m with
    | Decidable.isTrue h => Decidable.isTrue (congrArg Nat.succ h)
    | Decidable.isFalse h => Decidable.isFalse (fun e => h (Nat.noConfusion e (fun e => e)))
instance instDecidableEqNat : DecidableEq Nat := Nat.decEq
inductive Nat.le (n : Nat) : Nat → Prop where
  | refl : Nat.le n n
  | step {m : Nat} : Nat.le n m → Nat.le n (Nat.succ m)
protected def Nat.lt (n m : Nat) : Prop := Nat.le (Nat.add n 1) m
instance instLENat : LE Nat where
  le := Nat.le
instance instLTNat : LT Nat where
  lt := Nat.lt
inductive List (α : Type u) where
  | nil : List α
  | cons (head : α) (tail : List α) : List α
inductive Option (α : Type u) where
  | none : Option α
  | some (val : α) : Option α
@[macro_inline] def dite {α : Sort u} (c : Prop) [h : Decidable c] (t : c → α) (e : Not c → α) : α :=
  match h with
  | Decidable.isTrue h => t h
  | Decidable.isFalse h => e h
@[macro_inline] def ite {α : Sort u} (c : Prop) [h : Decidable c] (t e : α) : α :=
  match h with
  | Decidable.isTrue _ => t
  | Decidable.isFalse _ => e
inductive String where
  | text
inductive Lean.Name where
  | anonymous : Lean.Name
  | str (pre : Lean.Name) (str : String)
  | num (pre : Lean.Name) (i : Nat)
abbrev Lean.Name.mkStr (p : Lean.Name) (s : String) : Lean.Name := Lean.Name.str p s
abbrev Lean.Name.mkNum (p : Lean.Name) (n : Nat) : Lean.Name := Lean.Name.num p n
abbrev Lean.Name.mkSimple (s : String) : Lean.Name := Lean.Name.str Lean.Name.anonymous s
abbrev Lean.Name.mkStr1 (s₁ : String) : Lean.Name := Lean.Name.str Lean.Name.anonymous s₁
abbrev Lean.Name.mkStr2 (s₁ s₂ : String) : Lean.Name := Lean.Name.str (Lean.Name.str Lean.Name.anonymous s₁) s₂

/-! ## Notation and tactics

Their parsers, macros and printers are compiled into Lean's shared library. A declaration of the same name makes
each of them known; it has no other content.
-/

axiom Lean.ParserDescr : Type
axiom Lean.TrailingParserDescr : Type
axiom Lean.Syntax : Type
axiom Lean.Macro.Context : Type
axiom Lean.Macro.State : Type
axiom Lean.Macro.Result : Type
abbrev Lean.Macro : Type := Lean.Syntax → Lean.Macro.Context → Lean.Macro.State → Lean.Macro.Result
axiom Lean.PrettyPrinter.Result : Type
abbrev Lean.PrettyPrinter.Unexpander : Type := Lean.Syntax → Lean.Syntax → Unit → Lean.PrettyPrinter.Result
open Lean (ParserDescr TrailingParserDescr Macro)
open Lean.PrettyPrinter (Unexpander)

@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.exact : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.intro : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.intros : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.apply : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.refine : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.refine' : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.constructor : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.cases : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.induction : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.rewriteSeq : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.rwSeq : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticRfl : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.applyRfl : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.eqRefl : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.assumption : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.contradiction : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.left : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.right : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticExfalso : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticTrivial : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticHave__ : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.show : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticSuffices_ : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.case : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.case' : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.first : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticTry_ : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.«tactic_<;>_» : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.«tacticExists_,,» : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.subst : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.injection : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.unfold : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.change : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.revert : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.clear : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.generalize : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.specialize : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.allGoals : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.anyGoals : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.focus : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.done : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.skip : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticSorry : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.paren : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.withReducible : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.decide : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.simp : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.split : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.symm : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.«tacticNext_=>_» : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.renameI : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticLet__ : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticRefine_lift_ : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.tacticRefine_lift'_ : ParserDescr
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.Parser.Tactic.congr : ParserDescr
@[term_parser 1000, extern "native"] unsafe axiom «term_=_» : TrailingParserDescr
@[macro «term_=_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_=__1» : Macro
@[macro «term_=_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_=__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_≠_» : TrailingParserDescr
@[macro «term_≠_», extern "native"] unsafe axiom «_aux_Init_Core___macroRules_term_≠__1» : Macro
@[macro «term_≠_», extern "native"] unsafe axiom «_aux_Init_Core___macroRules_term_≠__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_∧_» : TrailingParserDescr
@[macro «term_∧_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_∧__1» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_∨_» : TrailingParserDescr
@[macro «term_∨_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_∨__1» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term¬_» : ParserDescr
@[macro «term¬_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term¬__1» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_↔_» : TrailingParserDescr
@[macro «term_↔_», extern "native"] unsafe axiom «_aux_Init_Core___macroRules_term_↔__1» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_+_» : TrailingParserDescr
@[macro «term_+_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_+__1» : Macro
@[macro «term_+_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_+__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_*_» : TrailingParserDescr
@[macro «term_*_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_*__1» : Macro
@[macro «term_*_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_*__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_-_» : TrailingParserDescr
@[macro «term_-_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_-__1» : Macro
@[macro «term_-_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_-__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_^_» : TrailingParserDescr
@[macro «term_^_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_^__1» : Macro
@[macro «term_^_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_^__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_<_» : TrailingParserDescr
@[macro «term_<_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_<__1» : Macro
@[macro «term_<_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_<__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_≤_» : TrailingParserDescr
@[macro «term_≤_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_≤__1» : Macro
@[macro «term_≤_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_≤__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_>_» : TrailingParserDescr
@[macro «term_>_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_>__1» : Macro
@[macro «term_>_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_>__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_≥_» : TrailingParserDescr
@[macro «term_≥_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_≥__1» : Macro
@[macro «term_≥_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_≥__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_++_» : TrailingParserDescr
@[macro «term_++_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_++__1» : Macro
@[macro «term_++_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_++__2» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_::_» : TrailingParserDescr
@[macro «term_::_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_::__1» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term∃_,_» : ParserDescr
@[macro «term∃_,_», extern "native"] unsafe axiom «_aux_Init_NotationExtra___macroRules_term∃_,__1» : Macro
@[term_parser 1000, extern "native"] unsafe axiom «term_<|_» : TrailingParserDescr
@[macro «term_<|_», extern "native"] unsafe axiom «_aux_Init_Notation___macroRules_term_<|__1» : Macro
@[app_unexpander Eq, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_Eq_1 : Unexpander
@[app_unexpander Ne, extern "native"] unsafe axiom _aux_Init_Core___unexpand_Ne_1 : Unexpander
@[app_unexpander And, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_And_1 : Unexpander
@[app_unexpander Or, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_Or_1 : Unexpander
@[app_unexpander Not, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_Not_1 : Unexpander
@[app_unexpander Iff, extern "native"] unsafe axiom _aux_Init_Core___unexpand_Iff_1 : Unexpander
@[app_unexpander Iff, extern "native"] unsafe axiom _aux_Init_Core___unexpand_Iff_2 : Unexpander
@[app_unexpander HAdd.hAdd, extern "native"]
unsafe axiom _aux_Init_Notation___unexpand_HAdd_hAdd_1 : Unexpander
@[app_unexpander HMul.hMul, extern "native"]
unsafe axiom _aux_Init_Notation___unexpand_HMul_hMul_1 : Unexpander
@[app_unexpander HSub.hSub, extern "native"]
unsafe axiom _aux_Init_Notation___unexpand_HSub_hSub_1 : Unexpander
@[app_unexpander HPow.hPow, extern "native"]
unsafe axiom _aux_Init_Notation___unexpand_HPow_hPow_1 : Unexpander
@[app_unexpander LE.le, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_LE_le_1 : Unexpander
@[app_unexpander LE.le, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_LE_le_2 : Unexpander
@[app_unexpander LT.lt, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_LT_lt_1 : Unexpander
@[app_unexpander GT.gt, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_GT_gt_1 : Unexpander
@[app_unexpander GE.ge, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_GE_ge_1 : Unexpander
@[app_unexpander GE.ge, extern "native"] unsafe axiom _aux_Init_Notation___unexpand_GE_ge_2 : Unexpander
@[app_unexpander HAppend.hAppend, extern "native"]
unsafe axiom _aux_Init_Notation___unexpand_HAppend_hAppend_1 : Unexpander
@[app_unexpander List.cons, extern "native"]
unsafe axiom _aux_Init_Notation___unexpand_List_cons_1 : Unexpander
@[app_unexpander Exists, extern "native"] unsafe axiom unexpandExists : Unexpander
@[macro Lean.Parser.Tactic.rwSeq, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_rwSeq_1 : Macro
@[macro Lean.Parser.Tactic.tacticRfl, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_1 : Macro
@[macro Lean.Parser.Tactic.tacticRfl, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_2 : Macro
@[macro Lean.Parser.Tactic.tacticRfl, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_3 : Macro
@[macro Lean.Parser.Tactic.tacticExfalso, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticExfalso_1 : Macro
@[macro Lean.Parser.Tactic.tacticTrivial, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_1 : Macro
@[macro Lean.Parser.Tactic.tacticTrivial, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_2 : Macro
@[macro Lean.Parser.Tactic.tacticTrivial, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_3 : Macro
@[macro Lean.Parser.Tactic.tacticTrivial, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_4 : Macro
@[macro Lean.Parser.Tactic.tacticTrivial, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_5 : Macro
@[macro Lean.Parser.Tactic.tacticTrivial, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_6 : Macro
@[macro Lean.Parser.Tactic.tacticHave__, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticHave___1 : Macro
@[macro Lean.Parser.Tactic.tacticSuffices_, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticSuffices__1 : Macro
@[macro Lean.Parser.Tactic.tacticTry_, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTry__1 : Macro
@[macro Lean.Parser.Tactic.«tactic_<;>_», extern "native"]
unsafe axiom Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tactic_<;>__1» : Macro
@[macro Lean.Parser.Tactic.«tacticExists_,,», extern "native"]
unsafe axiom Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticExists_,,_1» : Macro
@[macro Lean.Parser.Tactic.tacticSorry, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticSorry_1 : Macro
@[macro Lean.Parser.Tactic.«tacticNext_=>_», extern "native"]
unsafe axiom Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticNext_=>__1» : Macro
@[macro Lean.Parser.Tactic.tacticLet__, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticLet___1 : Macro
@[macro Lean.Parser.Tactic.tacticRefine_lift_, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRefine_lift__1 : Macro
@[macro Lean.Parser.Tactic.tacticRefine_lift'_, extern "native"]
unsafe axiom Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRefine_lift'__1 :
  Macro
@[tactic_parser 1000, extern "native"] unsafe axiom Lean.cdot : ParserDescr

/-! ## Lemmas -/

axiom sorryAx (α : Sort u) (synthetic := false) : α

@[induction_eliminator] protected noncomputable def Nat.recAux {motive : Nat → Sort u} (zero : motive 0)
    (succ : (n : Nat) → motive n → motive (n + 1)) (t : Nat) : motive t :=
  Nat.rec zero succ t
@[cases_eliminator] protected noncomputable abbrev Nat.casesAuxOn {motive : Nat → Sort u} (t : Nat)
    (zero : motive 0) (succ : (n : Nat) → motive (n + 1)) : motive t :=
  Nat.casesOn t zero succ

theorem Iff.rfl {a : Prop} : a ↔ a := ⟨fun h => h, fun h => h⟩
theorem Iff.symm {a b : Prop} (h : a ↔ b) : b ↔ a := ⟨h.mpr, h.mp⟩
theorem Iff.trans {a b c : Prop} (h : a ↔ b) (k : b ↔ c) : a ↔ c :=
  ⟨fun x => k.mp (h.mp x), fun x => h.mpr (k.mpr x)⟩
theorem And.symm {a b : Prop} (h : a ∧ b) : b ∧ a := ⟨h.right, h.left⟩
theorem Or.symm {a b : Prop} (h : a ∨ b) : b ∨ a := h.rec Or.inr Or.inl
theorem Or.elim {a b c : Prop} (h : a ∨ b) (left : a → c) (right : b → c) : c := h.rec left right
theorem Exists.elim {α : Sort u} {p : α → Prop} {b : Prop} (h : ∃ x, p x) (k : (a : α) → p a → b) : b :=
  h.rec k
theorem Ne.symm {α : Sort u} {a b : α} (h : a ≠ b) : b ≠ a := fun e => h e.symm
theorem trivial : True := True.intro

namespace Nat

theorem add_zero (n : Nat) : n + 0 = n := rfl
theorem add_succ (n m : Nat) : n + succ m = succ (n + m) := rfl
theorem add_one (n : Nat) : n + 1 = succ n := rfl
theorem succ_eq_add_one (n : Nat) : succ n = n + 1 := rfl
theorem mul_zero (n : Nat) : n * 0 = 0 := rfl
theorem mul_succ (n m : Nat) : n * succ m = n * m + n := rfl

protected theorem zero_add (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih => exact congrArg succ ih

theorem succ_add (n m : Nat) : succ n + m = succ (n + m) := by
  induction m with
  | zero => rfl
  | succ m ih => exact congrArg succ ih

protected theorem add_comm (n m : Nat) : n + m = m + n := by
  induction m with
  | zero => exact (Nat.zero_add n).symm
  | succ m ih => exact (congrArg succ ih).trans (succ_add m n).symm

protected theorem add_assoc (n m k : Nat) : n + m + k = n + (m + k) := by
  induction k with
  | zero => rfl
  | succ k ih => exact congrArg succ ih

protected theorem add_left_comm (n m k : Nat) : n + (m + k) = m + (n + k) := by
  rw [← Nat.add_assoc, Nat.add_comm n m, Nat.add_assoc]

protected theorem add_right_comm (n m k : Nat) : n + m + k = n + k + m := by
  rw [Nat.add_assoc, Nat.add_comm m k, ← Nat.add_assoc]

protected theorem zero_mul (n : Nat) : 0 * n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => exact ih

theorem succ_mul (n m : Nat) : succ n * m = n * m + m := by
  induction m with
  | zero => rfl
  | succ m ih => rw [mul_succ, ih, mul_succ, add_succ, add_succ, Nat.add_right_comm]

protected theorem mul_comm (n m : Nat) : n * m = m * n := by
  induction m with
  | zero => exact (Nat.zero_mul n).symm
  | succ m ih => rw [mul_succ, succ_mul, ih]

protected theorem mul_one (n : Nat) : n * 1 = n := Nat.zero_add n

protected theorem one_mul (n : Nat) : 1 * n = n := by
  rw [Nat.mul_comm, Nat.mul_one]

protected theorem mul_add (k n m : Nat) : k * (n + m) = k * n + k * m := by
  induction m with
  | zero => rfl
  | succ m ih => rw [add_succ, mul_succ, ih, mul_succ, Nat.add_assoc]

theorem succ_ne_zero (n : Nat) : succ n ≠ 0 := fun h => Nat.noConfusion h
theorem succ.inj' {n m : Nat} (h : succ n = succ m) : n = m := Nat.noConfusion h (fun e => e)

protected theorem le_refl (n : Nat) : n ≤ n := Nat.le.refl
protected theorem le_trans {n m k : Nat} (h : n ≤ m) (l : m ≤ k) : n ≤ k := by
  induction l with
  | refl => exact h
  | step _ ih => exact Nat.le.step ih
theorem le_add_right (n k : Nat) : n ≤ n + k := by
  induction k with
  | zero => exact Nat.le.refl
  | succ k ih => exact Nat.le.step ih
theorem le_succ_of_le {n m : Nat} (h : n ≤ m) : n ≤ succ m := Nat.le.step h
theorem succ_le_succ {n m : Nat} (h : n ≤ m) : succ n ≤ succ m := by
  induction h with
  | refl => exact Nat.le.refl
  | step _ ih => exact Nat.le.step ih
theorem zero_le (n : Nat) : 0 ≤ n := by
  induction n with
  | zero => exact Nat.le.refl
  | succ n ih => exact Nat.le.step ih

end Nat
