import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { TrialResult } from '../harness/meter.js'
import type { Trial } from './sqlite-process.js'

type WithoutPlace<T> = T extends Trial ? Omit<T, 'filename' | 'seconds'> : never

/** What is to be measured, in a process and a new file of its own. */
export type TrialKind = WithoutPlace<Trial>

export async function runTrial(trial: TrialKind, seconds: number): Promise<TrialResult> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  try {
    const spec = JSON.stringify({ ...trial, seconds, filename: path.join(folder, 'trial.db') })
    const script = path.join(import.meta.dirname, 'sqlite-process.ts')
    const args = [...process.execArgv, script, spec]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    return JSON.parse(stdout) as TrialResult
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
