import { type Child, scriptOf } from '../children/child.js'
import type { Service } from '../service.js'

export interface Report {
  readonly text: string
  readonly wait_ms: number
  readonly keep_mb: number
}

interface Job {
  readonly report: Report
  readonly resolve: (digest: string) => void
  readonly reject: (error: unknown) => void
}

/** The processes that compute reports for API requests, and the requests that wait for one. */
export interface Workers {
  /** Resolves when a worker has computed the report. */
  compute(report: Report): Promise<string>
  readonly all: () => readonly Child[]
  readonly idle: () => readonly Child[]
  readonly backlog: () => number
  add(): Promise<void>
  /** Kills a worker; the report that it computes fails. */
  remove(worker: Child): void
}

export function createWorkers({ children }: Pick<Service, 'children'>): Workers {
  const workers = new Set<Child>()
  const busy = new Set<Child>()
  const queue: Job[] = []
  let first: Promise<void> | undefined

  const work = async (worker: Child, { report, resolve, reject }: Job): Promise<void> => {
    busy.add(worker)
    await worker.call('report', report).then((digest) => resolve(String(digest)), reject)
    busy.delete(worker)
    next()
  }
  const idle = (): Child[] => [...workers].filter((worker) => !busy.has(worker))
  const next = (): void => {
    for (const worker of idle()) {
      const job = queue.shift()
      if (job) void work(worker, job)
    }
  }
  const add = async (): Promise<void> => {
    const worker = await children.start(scriptOf('api-worker'), [])
    workers.add(worker)
    void worker.ended.then(() => workers.delete(worker))
    next()
  }

  return {
    async compute(report) {
      await (first ??= add())
      return new Promise((resolve, reject) => {
        queue.push({ report, resolve, reject })
        next()
      })
    },
    all: () => [...workers],
    idle,
    backlog: () => queue.length,
    add,
    remove(worker) {
      workers.delete(worker)
      worker.kill()
    },
  }
}
