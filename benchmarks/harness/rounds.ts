/* Rounds in which all sides run one after the other, so that ratios compare runs under the same load. */

export interface Plan<Case, Side extends string, Answer> {
  readonly cases: readonly Case[]
  /** Their order is reversed in every other round. */
  readonly sides: readonly Side[]
  readonly rounds: number
  /** Adds a first round that is not counted, for processes that stay the same. @default false */
  readonly warmUp?: boolean
  /** Called before the sides of a case run. */
  readonly prepare?: (one: Case) => Promise<void>
  readonly measure: (one: Case, side: Side) => Promise<Answer>
  readonly titleOf: (one: Case) => string
  /** An answer, where progress is printed. */
  readonly print: (answer: Answer) => string
}

/** The answers of each side, by round. */
export type Answers<Side extends string, Answer> = Readonly<Record<Side, readonly Answer[]>>

export async function runRounds<Case, Side extends string, Answer>(
  plan: Plan<Case, Side, Answer>,
): Promise<ReadonlyMap<Case, Answers<Side, Answer>>> {
  const { cases, sides, rounds, warmUp = false, prepare, measure, titleOf, print } = plan
  const empty = (): [Side, Answer[]][] => sides.map((side) => [side, []])
  const results = new Map(
    cases.map((one) => [one, Object.fromEntries(empty()) as Record<Side, Answer[]>]),
  )
  for (let round = warmUp ? 0 : 1; round <= rounds; round++)
    for (const [one, all] of results) {
      await prepare?.(one)
      const progress: string[] = []
      for (const side of round % 2 === 1 ? sides : sides.toReversed()) {
        const answer = await measure(one, side)
        if (round > 0) all[side].push(answer)
        progress.push(`${side} ${print(answer)}`)
      }
      console.error(`${roundTitle(round, rounds)}, ${titleOf(one)}: ${progress.join(', ')}`)
    }
  return results
}

/** Round 0 is the warm-up. */
export const roundTitle = (round: number, rounds: number): string =>
  round === 0 ? 'warm-up' : `round ${round} of ${rounds}`

/** Moves the first `by` items to the end, so that each item is first in some round. */
export function rotate<Item>(items: readonly Item[], by: number): Item[] {
  const at = by % items.length
  return [...items.slice(at), ...items.slice(0, at)]
}
