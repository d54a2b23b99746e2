/*
 * `npm run soak` runs tests for longer than the suite does. DAYBOOK_SOAK_SECONDS is the time in which each of them
 * runs further rounds.
 */
export const SOAK_SECONDS = Number(process.env['DAYBOOK_SOAK_SECONDS'] ?? 0)

/** `npm run test:release` repeats tests with random values this many times as often as the suite does. */
const RUNS = Number(process.env['DAYBOOK_TEST_RUNS'] ?? 1)

/** The number of repetitions of a test with random values: `usual` in the suite, `long` in a soak. */
export const randomRuns = (usual: number, long: number): number =>
  SOAK_SECONDS > 0 ? long : usual * RUNS

/** The option `timeout` of a test that takes at most `ms` in the suite. */
export const soakTimeout = (ms: number): number => ms + SOAK_SECONDS * 2000

/** Numbers rounds from 0: at least `count`, then more while `isIncomplete` returns true, and until a soak is over. */
export function* soakRounds(
  count: number,
  isIncomplete: () => boolean = () => false,
): Generator<number, void, void> {
  const end = performance.now() + SOAK_SECONDS * 1000
  for (let round = 0; round < count || isIncomplete() || performance.now() < end; round++)
    yield round
}
