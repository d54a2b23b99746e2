import { finishInTurns, type Steps } from '../../src/filter/steps.js'

/** A query may block the event loop for this long. */
const TIME_SLICE_MS = 3

export interface TimeSlices {
  isOver(): boolean
  /** Pauses, then starts the next time slice. */
  next(): Promise<void>
  /** Does the work within this time slice and further ones. */
  finish(steps: Steps<boolean>): Promise<boolean>
}

export function createTimeSlices(pause: () => Promise<void>): TimeSlices {
  let end = performance.now() + TIME_SLICE_MS
  const isOver = (): boolean => performance.now() >= end
  const next = async (): Promise<void> => {
    await pause()
    end = performance.now() + TIME_SLICE_MS
  }
  return { isOver, next, finish: (steps) => finishInTurns(steps, isOver, next) }
}
