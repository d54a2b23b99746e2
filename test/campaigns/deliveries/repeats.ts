import type { Arrivals, Repeat } from './arrivals.js'

/** A process that was killed or suspended. */
export interface Interruption {
  readonly process: string
  readonly signal: 'SIGKILL' | 'SIGSTOP'
  /** Unix milliseconds; before the signal was sent, and after the process no longer ran. */
  readonly from: number
  readonly to: number
}

/** The repeats that an interruption explains. */
export interface Repeated {
  readonly interruption: Interruption
  readonly events: number
  /**
   * The duration of the repeated work in milliseconds: from the first arrival of its earliest event to the first
   * arrival of its latest event.
   */
  readonly ms: number
}

/**
 * Maximum age of a repeated event at the interruption. Cursors are stored more often, and deliveries wait for a slow
 * commit.
 */
const MAX_COMMIT_MS = 5000

/** A request that was sent may take this long to be written down. */
const UNDER_WAY_MS = 1000

/** True if the process was interrupted before it stored the cursor after the event. */
const explains =
  ({ first }: Repeat) =>
  ({ process, from, to }: Interruption): boolean =>
    process === first.process && first.at >= from - MAX_COMMIT_MS && first.at <= to + UNDER_WAY_MS

/**
 * Assigns each repeat to the interruption that explains it. A suspended process may also finish the delivery that it
 * had begun. Throws if no interruption explains a repeat.
 */
export function explainRepeats(
  { channel, repeats }: Arrivals,
  interruptions: readonly Interruption[],
): readonly Repeated[] {
  const found = new Map<Interruption, Repeat[]>()
  /** The deliveries that were finished, by the suspension. */
  const finished = new Map<Interruption, unknown>()
  for (const repeat of repeats) {
    const { key, first, again } = repeat
    const reason = interruptions.findLast(explains(repeat))
    // The arrival may be from before the suspension, because a process can be suspended before it has written the
    // arrival to the file.
    const suspension = interruptions.findLast(
      ({ process, signal, from }) =>
        signal === 'SIGSTOP' && process === again.process && from - UNDER_WAY_MS <= again.at,
    )
    if (reason) found.set(reason, [...(found.get(reason) ?? []), repeat])
    else if (suspension && (finished.get(suspension) ?? again) === again)
      finished.set(suspension, again)
    else {
      const times = `${new Date(first.at).toISOString()} by ${first.process}, ${new Date(again.at).toISOString()} by ${again.process}`
      throw new Error(`repeated without a reason at the ${channel}: ${key}, ${times}`)
    }
  }
  return Array.from(found, ([interruption, some]) => {
    const times = some.map(({ first }) => first.at)
    return { interruption, events: some.length, ms: Math.max(...times) - Math.min(...times) }
  })
}
