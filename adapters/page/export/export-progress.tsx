import { ProgressBar } from '../ui/progress-bar.js'
import { exportRun, percentOf } from './export-state.js'

/** The progress of a running export, on the export button. */
export function ExportProgress() {
  const run = exportRun.value
  if (run?.state !== 'running') return null
  return <ProgressBar class="export-mark" percent={percentOf(run)} />
}
