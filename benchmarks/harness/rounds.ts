/* Trials that take turns, so that each ratio is of neighbours in time. */

export interface Turns<Case, Side extends string, Answer> {
  readonly cases: readonly Case[]
  /** Every other round goes through them backwards. */
  readonly sides: readonly Side[]
  readonly rounds: number
  /** One more round before, of which nothing is kept: where processes stay the same. @default false */
  readonly isWarmedUp?: boolean
  /** Before the sides of a case take their turns. */
  readonly prepare?: (one: Case) => Promise<void>
  readonly measure: (one: Case, side: Side) => Promise<Answer>
  /** What is said of a case of a round when its sides have had their turns. */
  readonly tell: (one: Case, answers: Readonly<Record<Side, Answer>>) => string
}

export type Answers<Side extends string, Answer> = Readonly<Record<Side, readonly Answer[]>>

/** By case, what each side answered, round by round. */
export async function takeTurns<Case, Side extends string, Answer>(
  turns: Turns<Case, Side, Answer>,
): Promise<ReadonlyMap<Case, Answers<Side, Answer>>> {
  const { cases, sides, rounds, isWarmedUp = false, prepare, measure, tell } = turns
  const empty = (): [Side, Answer[]][] => sides.map((side) => [side, []])
  const found = new Map(
    cases.map((one) => [one, Object.fromEntries(empty()) as Record<Side, Answer[]>]),
  )
  for (let round = isWarmedUp ? 0 : 1; round <= rounds; round++)
    for (const [one, all] of found) {
      await prepare?.(one)
      const answers: Partial<Record<Side, Answer>> = {}
      for (const side of round % 2 === 1 ? sides : sides.toReversed())
        answers[side] = await measure(one, side)
      const complete = answers as Record<Side, Answer>
      if (round > 0) for (const side of sides) all[side].push(complete[side])
      console.error(`round ${round} of ${rounds}, ${tell(one, complete)}`)
    }
  return found
}
