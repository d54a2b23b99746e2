export { workflowEventTypes } from './event-types.js'
export { type WorkflowSetting, type WorkflowSettings, workflowEventTypesFor } from './settings.js'
export { workflowLinks } from './links.js'
