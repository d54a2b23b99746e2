export {
  type ExportedLog,
  type ExportedLogs,
  exportEvents,
  exportEventsOfLogs,
  type ExportOptions,
  type LogsExportOptions,
} from './export-events.js'
export { EXPORT_FORMATS, type ExportFormat } from './formats.js'
export { lineTime } from './line-time.js'
