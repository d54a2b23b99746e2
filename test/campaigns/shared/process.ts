import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** A process of a campaign. */
export interface Running {
  readonly name: string
  readonly process: ChildProcess
  /** Everything written to stderr so far. */
  stderr(): string
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>
  /** Kills the process. Throws if it has ended before. */
  kill(): Promise<void>
  /** Closes its standard input. Throws if it does not end with exit code 0. */
  finish(): Promise<void>
  /** Kills the process if it still runs. */
  end(): Promise<void>
}

/** Starts a compiled file with these arguments, and reads its output line by line. */
export function startProcess(
  name: string,
  args: readonly string[],
  onLine: (line: string) => void,
): Running {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let rest = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    name,
    process: child,
    stderr: () => stderr,
    ended,
    end,
    async kill() {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${stderr}`)
      await end()
    },
    async finish() {
      child.stdin.end()
      const code = await ended
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${stderr}`)
    },
  }
}

/** Waits until the condition holds. Throws after a time that is long, because a busy machine is slow. */
export async function until(
  what: string,
  hangsAfterMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + hangsAfterMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`)
    await delay(10)
  }
}
