import { type ChildProcess, fork, type ForkOptions } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/* Child processes in which trials run. Each answers the jobs that it is sent one after the other. */

const running = new Set<ChildProcess>()

/** Kills the processes that a failed suite has left. */
export function killWorkers(): void {
  for (const child of running) child.kill('SIGKILL')
}

export class Worker<Job, Answer> {
  private readonly child: ChildProcess

  private constructor(child: ChildProcess) {
    this.child = child
    running.add(child)
    child.once('exit', () => running.delete(child))
  }

  /**
   * Runs a file of `targets/`, or a bundled one without tsx. It reads `setup` by `readSetup`; resolves when it is
   * ready.
   */
  static async start<Job, Answer>(
    script: string,
    setup: unknown,
    flags: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<Worker<Job, Answer>> {
    const file = path.resolve(import.meta.dirname, '../targets', script)
    const execArgv = file.endsWith('.ts') ? [...process.execArgv, ...flags] : flags
    // JSON, the default serialization, turns NaN into null.
    const options: ForkOptions = {
      execArgv: [...execArgv],
      serialization: 'advanced',
      env: { ...process.env, ...env },
    }
    const worker = new Worker<Job, Answer>(fork(file, [JSON.stringify(setup)], options))
    await worker.nextMessage()
    return worker
  }

  async ask(job: Job): Promise<Answer> {
    this.child.send(job as object)
    return (await this.nextMessage()) as Answer
  }

  async end(): Promise<void> {
    if (!this.child.connected) return
    this.child.disconnect()
    await once(this.child, 'exit')
  }

  private async nextMessage(): Promise<unknown> {
    const received = new AbortController()
    const { signal } = received
    const ended = async (): Promise<never> => {
      const [code, killedBy] = (await once(this.child, 'exit', { signal })) as unknown[]
      throw new Error(`a worker process ended: ${String(code ?? killedBy)}`)
    }
    try {
      const message = once(this.child, 'message', { signal })
      const [first] = (await Promise.race([message, ended()])) as unknown[]
      return first
    } finally {
      received.abort()
    }
  }
}

/** Runs one job in a process of its own. */
export async function runOnce<Answer>(
  script: string,
  setup: unknown,
  job: unknown = 'run',
): Promise<Answer> {
  const worker = await Worker.start<unknown, Answer>(script, setup)
  const answer = await worker.ask(job)
  await worker.end()
  return answer
}

/** In a worker: the setup that it was started with. */
export const readSetup = (): unknown => JSON.parse(process.argv[2] ?? '')

/** In a worker: says that it is ready, and answers jobs. `close` is called when the worker ends. */
export function serveJobs(answer: (job: never) => unknown, close?: () => unknown): void {
  const reply = async (job: unknown): Promise<void> =>
    void process.send!(await answer(job as never))
  if (close) process.on('disconnect', () => void close())
  process.on('message', (job) => void reply(job))
  process.send!('ready')
}

const START = 'start'
const PREPARED = 'prepared'

/** A worker that prepares a job first, so that several of them can start at the same time. */
export type ConcurrentWorker<Job, Answer> = Worker<Job | typeof START, Answer>

/** Prepares a job in every worker, then runs all of them at the same time. */
export async function runTogether<Job, Answer>(
  workers: readonly ConcurrentWorker<Job, Answer>[],
  jobFor: (index: number) => Job,
): Promise<Answer[]> {
  await Promise.all(workers.map((worker, i) => worker.ask(jobFor(i))))
  return Promise.all(workers.map((worker) => worker.ask(START)))
}

/** In a concurrent worker: `prepare` resolves to the function that runs the job. */
export function servePreparedJobs(prepare: (job: never) => Promise<() => Promise<unknown>>): void {
  let run: (() => Promise<unknown>) | undefined
  serveJobs(async (job: unknown) => {
    if (job === START) return run!()
    run = await prepare(job as never)
    return PREPARED
  })
}
