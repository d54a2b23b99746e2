import { ProgressBar } from '../ui/progress-bar.js'
import { exportRun, percentOf } from './export-state.js'

/** The progress of a running export, on the export button. The events of Parquet are not counted. */
export function ExportProgress() {
  const run = exportRun.value
  if (run?.state !== 'running' || run.count === 0) return null
  return <ProgressBar class="export-mark" percent={percentOf(run)} />
}
