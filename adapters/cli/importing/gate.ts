// Far below the 64 MiB limit of the log's queue, because numbers can become longer when they are written again.
const MAX_PENDING_BYTES = 8 * 1024 * 1024

export interface Gate {
  /** Starts the task as soon as there is room. Only one call may wait at a time. The task must not reject. */
  start(bytes: number, task: () => Promise<void>): Promise<void>
  /** Resolves when all tasks have ended. */
  empty(): Promise<void>
}

/** Limits the number of running tasks, and their bytes in total. */
export function createGate(maxTasks: number): Gate {
  let tasks = 0
  let pendingBytes = 0
  let wake = (): void => {}
  const waitUntil = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise<void>((resolve) => (wake = resolve))
  }
  const runTask = async (bytes: number, task: () => Promise<void>): Promise<void> => {
    tasks++
    pendingBytes += bytes
    await task()
    tasks--
    pendingBytes -= bytes
    wake()
  }
  return {
    async start(bytes, task) {
      const isRoom = (): boolean => tasks < maxTasks && pendingBytes + bytes <= MAX_PENDING_BYTES
      await waitUntil(() => tasks === 0 || isRoom())
      void runTask(bytes, task)
    },
    empty: () => waitUntil(() => tasks === 0),
  }
}
