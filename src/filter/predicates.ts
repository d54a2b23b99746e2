/** The tests that predicates consist of. Each tests one value of an attribute. */
export type TestName =
  | 'eq'
  | 'lt'
  | 'lteq'
  | 'gt'
  | 'gteq'
  | 'in'
  | 'matches'
  | 'cont'
  | 'start'
  | 'end'
  | 'true'
  | 'false'
  | 'null'
  | 'blank'

/** The tests that apply only to text, also when negated. */
export type TextTest = 'cont' | 'start' | 'end' | 'matches'

const TEXT_TESTS: ReadonlySet<TestName> = new Set<TextTest>(['cont', 'start', 'end', 'matches'])

export const isTextTest = (test: TestName): test is TextTest => TEXT_TESTS.has(test)

interface SimplePredicate {
  readonly test: TestName
  /**
   * The predicate matches if there is a value and no value passes the test. For `null` and `blank`: if
   * the test fails.
   */
  readonly negated: boolean
  /** The value: one, a list, or a flag that applies or inverts the predicate. */
  readonly takes: 'one' | 'list' | 'flag'
}

export interface Predicate extends SimplePredicate {
  readonly name: PredicateName
  /** `_any` and `_all` test each element of the list, joined by `or` or by `and`. */
  readonly compound: 'any' | 'all' | undefined
  /** For flags: the predicate that an inverting value means. */
  readonly inverse: PredicateName | undefined
}

const one = (test: TestName, negated = false): SimplePredicate => ({ test, negated, takes: 'one' })
const list = (test: TestName, negated = false): SimplePredicate => ({
  test,
  negated,
  takes: 'list',
})
const flag = (test: TestName, negated = false): SimplePredicate => ({
  test,
  negated,
  takes: 'flag',
})

/** Ransack's predicates on values; each also has a form ending in `_any` and in `_all`. */
const VALUE_PREDICATES = {
  eq: one('eq'),
  not_eq: one('eq', true),
  lt: one('lt'),
  lteq: one('lteq'),
  gt: one('gt'),
  gteq: one('gteq'),
  in: list('in'),
  not_in: list('in', true),
  matches: one('matches'),
  does_not_match: one('matches', true),
  cont: one('cont'),
  not_cont: one('cont', true),
  i_cont: one('cont'),
  not_i_cont: one('cont', true),
  start: one('start'),
  not_start: one('start', true),
  end: one('end'),
  not_end: one('end', true),
} as const

const FLAG_PREDICATES = {
  true: flag('true'),
  not_true: flag('true', true),
  false: flag('false'),
  not_false: flag('false', true),
  null: flag('null'),
  not_null: flag('null', true),
  blank: flag('blank'),
  present: flag('blank', true),
} as const

type ValuePredicateName = keyof typeof VALUE_PREDICATES
export type FlagPredicateName = keyof typeof FLAG_PREDICATES

/** Predicates that take a list. */
export type ListPredicateName = 'in' | 'not_in' | `${ValuePredicateName}_${'any' | 'all'}`

/** Predicates that take one value. */
export type OnePredicateName = Exclude<ValuePredicateName, ListPredicateName>

export type PredicateName = OnePredicateName | ListPredicateName | FlagPredicateName

const INVERSES: Readonly<Record<FlagPredicateName, FlagPredicateName>> = {
  true: 'not_true',
  not_true: 'true',
  false: 'not_false',
  not_false: 'false',
  null: 'not_null',
  not_null: 'null',
  blank: 'present',
  present: 'blank',
}

function buildTable(): Map<string, Predicate> {
  const table = new Map<string, Predicate>()
  const add = (predicate: Predicate): unknown => table.set(predicate.name, predicate)
  for (const [key, simple] of Object.entries(VALUE_PREDICATES)) {
    const name = key as ValuePredicateName
    add({ ...simple, name, compound: undefined, inverse: undefined })
    for (const compound of ['any', 'all'] as const)
      add({ ...simple, takes: 'list', name: `${name}_${compound}`, compound, inverse: undefined })
  }
  for (const [key, simple] of Object.entries(FLAG_PREDICATES)) {
    const name = key as FlagPredicateName
    add({ ...simple, name, compound: undefined, inverse: INVERSES[name] })
  }
  return table
}

/** All 62 predicates by name. */
export const predicates: ReadonlyMap<string, Predicate> = buildTable()

/** Length of the longest predicate name. It bounds the search for a suffix. */
export const MAX_PREDICATE_LENGTH = Math.max(...[...predicates.keys()].map((name) => name.length))

export function predicateOf(name: PredicateName): Predicate {
  return predicates.get(name)!
}

/**
 * Splits `type_not_eq` into attribute and predicate, the longest predicate name that is a suffix.
 * `undefined` if the key does not end with a predicate, or no attribute is left.
 */
export function splitKey(key: string): { attribute: string; predicate: Predicate } | undefined {
  const first = Math.max(key.length - MAX_PREDICATE_LENGTH - 1, 1)
  for (let at = key.indexOf('_', first); at !== -1; at = key.indexOf('_', at + 1)) {
    const predicate = predicates.get(key.slice(at + 1))
    if (predicate) return { attribute: key.slice(0, at), predicate }
  }
  return undefined
}
