import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { suspend } from './stopped.js'

export interface Child {
  readonly process: ChildProcess
  /** Everything written to stdout so far. */
  stdout(): string
  stderr(): string
  /** Resolves when stdout contains the text; rejects if the process ends first. */
  saw(text: string): Promise<void>
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Stops the process with SIGSTOP; resolves once none of its threads runs (Linux). */
  suspend(): Promise<void>
  /** Resolves to the exit code. */
  ended: Promise<number | null>
}

const root = fileURLToPath(new URL('../..', import.meta.url))

// TypeScript for the main thread and its worker threads.
const TYPESCRIPT = ['tsx', './test/support/typescript-threads.js'].flatMap((hooks) => [
  '--import',
  hooks,
])

/** The file to run for a source: the compiled file, or the source itself if it is outside the project. */
function commandOf(file: string): readonly string[] {
  if (path.isAbsolute(file)) return [...TYPESCRIPT, file]
  return [path.join(inject('compiledFolder'), file.replace(/\.ts$/, '.js'))]
}

/**
 * The lines that begin with this text, without the text. The last line is left out, because a kill may have cut it
 * off.
 */
export const linesOf = ({ stdout }: Pick<Child, 'stdout'>, begin = ''): string[] =>
  stdout()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith(begin))
    .map((line) => line.slice(begin.length))

/** Runs a TypeScript file of this project, relative to its root, in a separate process. */
export function runScript(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin: 'ignore' | 'pipe' = 'ignore',
): Child {
  const child = spawn(process.execPath, [...commandOf(file), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    async saw(text) {
      let over = false
      void ended.then(() => (over = true))
      while (!stdout.includes(text)) {
        if (over)
          throw new Error(`${file} ended before it wrote ${JSON.stringify(text)}: ${stderr}`)
        await Promise.race([once(child.stdout!, 'data'), ended])
      }
    },
    suspend: () => suspend(child.pid!),
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      await ended
    },
  }
}
