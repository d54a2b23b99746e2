import type { Sql } from '../sql.js'

/** A row with the values of its columns in order. Postgres gives numbers as texts. */
export type Row = readonly (string | number | null)[]

/**
 * Statements that are sent one after another; each `yield` returns the rows of its statement. SQLite runs a program at
 * once, and Postgres waits for each answer. A program may be run again from its start.
 */
export type Program<Result> = Generator<Sql, Result, readonly Row[]>

/** Runs a program whose statements are answered at once. */
export function runNow<Result>(
  program: Program<Result>,
  ask: (statement: Sql) => readonly Row[],
): Result {
  for (let step = program.next([]); ; step = program.next(ask(step.value)))
    if (step.done) return step.value
}

export async function runAwaiting<Result>(
  program: Program<Result>,
  ask: (statement: Sql) => Promise<readonly Row[]>,
): Promise<Result> {
  for (let step = program.next([]); ; step = program.next(await ask(step.value)))
    if (step.done) return step.value
}
