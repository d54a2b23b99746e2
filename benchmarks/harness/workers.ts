import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/* Processes in which trials run, and that answer jobs one after the other. */

/** One such process. */
export class Worker<Job, Answer> {
  private readonly child: ChildProcess

  private constructor(child: ChildProcess) {
    this.child = child
  }

  /** Runs a file of this folder; what it is given as JSON says what it is to do. */
  static async start<Job, Answer>(
    script: string,
    setup: unknown,
    flags: readonly string[] = [],
  ): Promise<Worker<Job, Answer>> {
    const execArgv = [...process.execArgv, ...flags]
    // The other serialization makes NaN null.
    const options = { execArgv, serialization: 'advanced' } as const
    const file = path.join(import.meta.dirname, '../targets', script)
    const worker = new Worker<Job, Answer>(fork(file, [JSON.stringify(setup)], options))
    await worker.nextMessage()
    return worker
  }

  async ask(job: Job): Promise<Answer> {
    this.child.send(job as object)
    return (await this.nextMessage()) as Answer
  }

  /** Gives `undefined` where there is no answer in so many seconds; the process is gone then. */
  async askAtMost(seconds: number, job: Job): Promise<Answer | undefined> {
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      this.child.kill('SIGKILL')
    }, seconds * 1000)
    try {
      return await this.ask(job)
    } catch (error) {
      if (isOver) return undefined
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async end(): Promise<void> {
    if (!this.child.connected) return
    this.child.disconnect()
    await once(this.child, 'exit')
  }

  private async nextMessage(): Promise<unknown> {
    const given = new AbortController()
    const { signal } = given
    const ended = async (): Promise<never> => {
      const [code, by] = (await once(this.child, 'exit', { signal })) as unknown[]
      throw new Error(`a trial's process ended: ${String(code ?? by)}`)
    }
    try {
      const message = once(this.child, 'message', { signal })
      const [first] = (await Promise.race([message, ended()])) as unknown[]
      return first
    } finally {
      given.abort()
    }
  }
}

type Go = 'go'

/** A process that works beside others: it makes ready for a job, and begins when all are ready. */
export type Mate<Job, Answer> = Worker<Job | Go, Answer>

/** Has each process do its job, all at the same time. */
export async function together<Job, Answer>(
  mates: readonly Mate<Job, Answer>[],
  jobFor: (index: number) => Job,
): Promise<Answer[]> {
  await Promise.all(mates.map((mate, i) => mate.ask(jobFor(i))))
  return Promise.all(mates.map((mate) => mate.ask('go')))
}

/** In the process of a mate: `prepare` gives what is to be done once all are ready. */
export function serve(prepare: (job: never) => Promise<() => Promise<unknown>>): void {
  let begin: (() => Promise<unknown>) | undefined
  const answer = async (message: unknown): Promise<void> => {
    if (message === 'go') process.send!(await begin!())
    else {
      begin = await prepare(message as never)
      process.send!('ready')
    }
  }
  process.on('message', (message) => void answer(message))
  process.send!('ready')
}
