import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

/** True if curl is installed. Minimal systems lack it. */
export const hasCurl: boolean = spawnSync('curl', ['--version']).status === 0

const ALWAYS = ['--globoff', '--silent', '--show-error', '--user', 'ann:ann']

/** Runs curl and returns its output. Rejects if curl fails. */
export async function curl(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('curl', [...ALWAYS, ...args])
  return stdout.replaceAll('\r\n', '\n')
}

/** A running command. */
export interface RunningCommand {
  /** Resolves to the whole output when it contains the text. */
  saw(text: string): Promise<string>
  stop(): Promise<void>
}

export const startCurl = (...args: readonly string[]): RunningCommand =>
  startCommand('curl', [...ALWAYS, ...args])

export function startCommand(command: string, args: readonly string[]): RunningCommand {
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  let printed = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text))
  return {
    async saw(text) {
      while (!printed.includes(text)) {
        const over = await Promise.race([
          once(child.stdout!, 'data').then(() => false),
          ended.then(() => true),
        ])
        if (over && !printed.includes(text))
          throw new Error(`${command} ended after ${JSON.stringify(printed)}`)
      }
      return printed
    },
    async stop() {
      child.kill()
      await ended
    },
  }
}
