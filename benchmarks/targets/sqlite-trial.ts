import path from 'node:path'
import type { TrialResult } from '../harness/meter.js'
import { withTempFolder } from '../harness/temp.js'
import { Worker } from '../harness/workers.js'
import type { Trial } from './sqlite-process.js'

type WithoutPlace<T> = T extends Trial ? Omit<T, 'filename' | 'seconds'> : never

/** What a trial measures. */
export type TrialKind = WithoutPlace<Trial>

/** Runs a trial in a new process on a new file. */
export const runTrial = (trial: TrialKind, seconds: number): Promise<TrialResult> =>
  withTempFolder(async (folder) => {
    const setup = { ...trial, seconds, filename: path.join(folder, 'trial.db') }
    const worker = await Worker.start<'run', TrialResult>('sqlite-process.ts', setup)
    const result = await worker.ask('run')
    await worker.end()
    return result
  })
