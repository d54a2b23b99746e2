export { type ExportedLog, exportEvents, type ExportOptions } from './export-events.js'
export { EXPORT_FORMATS, type ExportFormat } from './formats.js'
export { lineTime } from './line-time.js'
