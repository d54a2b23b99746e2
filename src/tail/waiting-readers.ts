import { callInTurns } from '../async/in-turns.js'

export interface SessionReader {
  /** The session has something new, or has ended. */
  wake(): void
}

/** The readers of a session that wait for news. */
export interface WaitingReaders {
  add(reader: SessionReader): void
  /** Safe to call twice. */
  delete(reader: SessionReader): void
  /** Wakes and removes all readers. */
  wakeAll(): void
  /** Resolves when a reader waits. */
  untilAny(): Promise<void>
}

const wakeReader = (reader: SessionReader): void => reader.wake()

/** Calls `onChange` when the first reader begins to wait, and when none waits any more. */
export function createWaitingReaders(onChange: (isAny: boolean) => void): WaitingReaders {
  let waiting = new Set<SessionReader>()
  let onFirst = (): void => {}
  return {
    add(reader) {
      waiting.add(reader)
      if (waiting.size > 1) return
      onChange(true)
      onFirst()
    },
    delete(reader) {
      if (waiting.delete(reader) && waiting.size === 0) onChange(false)
    },
    wakeAll() {
      const woken = waiting
      waiting = new Set()
      onChange(false)
      void callInTurns(woken, wakeReader)
    },
    async untilAny() {
      if (waiting.size === 0) await new Promise<void>((resolve) => (onFirst = resolve))
    },
  }
}
