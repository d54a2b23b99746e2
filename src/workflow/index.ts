export { workflowEventTypes } from './event-types.js'
