/** Work in steps, which the test lets go one by one. */
export interface SlowWork {
  /** Goes on for `steps` steps, or to the end; true at the end. */
  advance(steps: number): Promise<boolean>
  /** Goes on until the condition holds after a step, or to the end; true at the end. */
  advanceUntil(condition: () => Promise<boolean>): Promise<boolean>
  /** Goes on to the end and returns the result. */
  finish(): Promise<boolean>
}

/** Starts work that waits for `before` ahead of each step. */
export function slowWork(start: (before: () => Promise<void>) => Promise<boolean>): SlowWork {
  let go: (() => void) | undefined
  let isOver = false
  let wake = (): void => {}
  const before = (): Promise<void> =>
    new Promise((resolve) => {
      go = resolve
      wake()
    })
  const result = start(before).finally(() => {
    isOver = true
    wake()
  })
  // `finish` reports the errors.
  result.catch(() => {})
  const untilStep = async (): Promise<void> => {
    if (!go && !isOver) await new Promise<void>((resolve) => (wake = resolve))
  }
  const advance = async (steps: number): Promise<boolean> => {
    await untilStep()
    for (let step = 0; step < steps && !isOver; step++) {
      const next = go
      go = undefined
      next?.()
      await untilStep()
    }
    return isOver
  }
  return {
    advance,
    async advanceUntil(condition) {
      while (!(await advance(1))) if (await condition()) return false
      return true
    },
    async finish() {
      await advance(Infinity)
      return result
    },
  }
}
