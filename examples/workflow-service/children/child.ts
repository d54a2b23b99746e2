import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** A child process that runs a script of the service. */
export interface Child {
  /** Calls an action of the script. Rejects with its error, or when the process ends. */
  call(action: string, input?: unknown): Promise<unknown>
  /** Resolves when the process has ended, with what it wrote to stderr. */
  readonly ended: Promise<string>
  readonly isRunning: () => boolean
  /** Sends SIGTERM; returns false if the process is still running after this time. */
  stop(graceMs: number): Promise<boolean>
  kill(): void
}

export interface Children {
  /** Starts a script; rejects with what it wrote to stderr if it ends before it is ready. */
  start(script: URL, args: readonly string[]): Promise<Child>
  /** Runs a script to its end; rejects with what it wrote to stderr unless it exits with 0. */
  run(script: URL, args: readonly string[]): Promise<void>
  /** Kills all that are running, and waits for their end. */
  stop(): Promise<void>
}

interface Answer {
  readonly id: string
  readonly result?: unknown
  readonly error?: string
}

/** The scripts beside this file. */
export const scriptOf = (name: string): URL => new URL(`${name}.js`, import.meta.url)

function childOf(process: ChildProcess): Child {
  let errors = ''
  process.stderr?.on('data', (text: Buffer) => (errors += text.toString()))
  const waiting = new Map<string, (answer: Answer) => void>()
  process.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  const ended = new Promise<string>((resolve) =>
    process.once('close', () => {
      for (const [id, answer] of waiting) answer({ id, error: 'the process has ended' })
      resolve(errors)
    }),
  )
  return {
    ended,
    isRunning: () => process.exitCode === null && process.signalCode === null,
    async call(action, input) {
      const id = randomUUID()
      const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
      if (process.connected) process.send({ id, action, input })
      else waiting.get(id)?.({ id, error: 'the process has ended' })
      const { result, error } = await answered
      if (error !== undefined) throw new Error(error)
      return result
    },
    async stop(graceMs) {
      process.kill('SIGTERM')
      const timer = new AbortController()
      const timeout = delay(graceMs, false, { signal: timer.signal }).catch(() => false)
      const isStopped = await Promise.race([ended.then(() => true), timeout])
      timer.abort()
      return isStopped
    },
    kill: () => void process.kill('SIGKILL'),
  }
}

/** The message of the error that ended a script. */
const reasonIn = (errors: string): string =>
  /^\w*Error: (.*)$/m.exec(errors)?.[1] ?? (errors.trim() || 'the process ended too early')

export function createChildren(): Children {
  const running = new Set<Child>()
  const launch = (script: URL, args: readonly string[]) => {
    const process = fork(script, args, { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    const child = childOf(process)
    running.add(child)
    void child.ended.then(() => running.delete(child))
    return { process, child }
  }
  return {
    async run(script, args) {
      const { process, child } = launch(script, args)
      const errors = await child.ended
      if (process.exitCode !== 0) throw new Error(reasonIn(errors))
    },
    async start(script, args) {
      const { process, child } = launch(script, args)
      const ready = new Promise<true>((resolve) => process.once('message', () => resolve(true)))
      const first = await Promise.race([ready, child.ended])
      if (first === true) return child
      throw new Error(reasonIn(first))
    },
    async stop() {
      for (const child of running) child.kill()
      await Promise.all([...running].map(({ ended }) => ended))
    },
  }
}
