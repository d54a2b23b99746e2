export { type CloudEvent, type CloudEventOptions, toCloudEvent } from './cloud-event.js'
export { type OcsfEvent, type OcsfOptions, toOcsf } from './ocsf.js'
export type { OcsfProduct } from './ocsf-classes.js'
export {
  type ExportLogsServiceRequest,
  type OtlpKeyValue,
  type OtlpLogRecord,
  type OtlpOptions,
  type OtlpValue,
  toOtlp,
} from './otlp.js'
