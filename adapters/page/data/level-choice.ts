import { LEVEL_PREFIXES, type Level, LEVELS } from '../../../src/event/level.js'
import { conditionOn, type Conjunct, isGrouping, sameConjunct } from './query.js'

/** The levels that a conjunct on the event type selects or excludes. */
export interface LevelChoice {
  readonly levels: readonly Level[]
  readonly not: boolean
}

const KNOWN = LEVELS.filter((level) => level !== 'custom')

const prefixesOf = (levels: readonly Level[]): readonly string[] =>
  levels.flatMap((level) => (level === 'custom' ? [] : LEVEL_PREFIXES[level]))

/**
 * The condition for some levels. `custom` means all types without a known prefix, so a combination with other levels
 * needs a group.
 */
export function levelConjunct({ levels, not }: LevelChoice): Conjunct {
  const ordered = LEVELS.filter((level) => levels.includes(level))
  const known = conditionOn('type', not ? 'not_start_all' : 'start_any', prefixesOf(ordered))
  if (!ordered.includes('custom')) return known
  const custom = conditionOn('type', not ? 'start_any' : 'not_start_all', prefixesOf(KNOWN))
  if (ordered.length === 1) return custom
  return { combinator: not ? 'and' : 'or', conditions: [known, custom], groupings: [] }
}

/** The inverse of {@link levelConjunct}; `undefined` for other conjuncts. */
export function levelChoice(conjunct: Conjunct): LevelChoice | undefined {
  const prefixes: ReadonlySet<string> = new Set(
    isGrouping(conjunct) ? conjunct.conditions.flatMap(({ values }) => values) : conjunct.values,
  )
  const named = KNOWN.filter((level) => LEVEL_PREFIXES[level].every((text) => prefixes.has(text)))
  const withCustom = [...named, 'custom'] as const
  const candidates: LevelChoice[] = [false, true].flatMap((not) => [
    { levels: named, not },
    { levels: ['custom'], not },
    { levels: withCustom, not },
  ])
  if (isGrouping(conjunct)) {
    const [first] = conjunct.conditions
    if (first?.attributes[0] !== 'type') return undefined
    const levels: Level[] = [
      ...KNOWN.filter((level) =>
        LEVEL_PREFIXES[level].every((text) => first.values.includes(text)),
      ),
      'custom',
    ]
    candidates.push({ levels, not: false }, { levels, not: true })
  }
  return candidates.find(
    (choice) => choice.levels.length > 0 && sameConjunct(levelConjunct(choice), conjunct),
  )
}
