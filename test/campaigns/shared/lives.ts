import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import type { Running } from './process.js'

const PROCESSES = 3
/** Latest kill, counted from the start of the process or from its first action. */
const MAX_START_MS = 500
const MAX_LIFE_MS = 200

/** The moment at which a process is killed. */
export interface KillRound {
  readonly isEarly: boolean
  /** Part of the latest time, in thousandths. */
  readonly part: number
}
export const killRounds: fc.Arbitrary<KillRound> = fc.record({
  isEarly: fc.constantFrom(true, false, false, false),
  part: fc.integer({ min: 0, max: 1000 }),
})

/** A process between its start and its kill. */
export interface Life {
  readonly running: Running
  /** Resolves when the first action of the process is acknowledged. */
  readonly began: Promise<unknown>
}

/** A promise, and the function that resolves it. */
export function createBegin(): { readonly began: Promise<void>; readonly begin: () => void } {
  let begin = (): void => {}
  const began = new Promise<void>((resolve) => (begin = resolve))
  return { began, begin: () => begin() }
}

/**
 * Runs three processes at a time. In each round one of them is killed, during its start or some time later. Its
 * successor follows. Resolves to the last process of each.
 */
export async function killInTurn<One extends Life>(
  plan: readonly KillRound[],
  start: (name: string, last: One | undefined) => One,
): Promise<readonly One[]> {
  const left = [...plan]
  const lives: One[] = []
  const runProcess = async (number: number): Promise<One[]> => {
    let last: One | undefined
    for (let round = left.pop(); round; round = left.pop()) {
      last = start(`${number}-${lives.length}`, last)
      lives.push(last)
      const { isEarly, part } = round
      if (!isEarly) await Promise.race([last.began, last.running.ended])
      await delay((part / 1000) * (isEarly ? MAX_START_MS : MAX_LIFE_MS))
      await last.running.kill()
    }
    return last ? [last] : []
  }
  try {
    return (await Promise.all(Array.from({ length: PROCESSES }, (_, n) => runProcess(n)))).flat()
  } finally {
    left.length = 0
    for (const { running } of lives) await running.end()
  }
}
