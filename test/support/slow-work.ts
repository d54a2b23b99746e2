/** Work in steps that the test releases one by one. */
export interface SlowWork {
  /** Runs up to `steps` steps; resolves to true at the end. */
  advance(steps: number): Promise<boolean>
  /** Runs until the condition is true after a step. Resolves to true at the end of the work. */
  advanceUntil(condition: () => Promise<boolean>): Promise<boolean>
  /** Runs to the end and returns the result. */
  finish(): Promise<boolean>
}

/** Starts work that awaits `before` before each step. */
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
