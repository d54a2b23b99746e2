import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** True if all threads of the process are stopped by a signal: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function isStopped(pid: number): boolean {
  const threads = `/proc/${pid}/task`
  const stateOf = (thread: string): string | undefined => {
    try {
      const stat = fs.readFileSync(`${threads}/${thread}/stat`, 'utf8')
      return stat[stat.lastIndexOf(')') + 2]
    } catch {
      // The process has just ended.
      return undefined
    }
  }
  return fs.readdirSync(threads).every((thread) => stateOf(thread) === 'T')
}

/** Stops a process with SIGSTOP. Resolves once none of its threads runs (Linux). */
export async function suspend(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  while (!isStopped(pid)) await delay(1)
}
