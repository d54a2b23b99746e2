import { defineEventTypes } from 'daybook'
import { workflowEventTypes } from 'daybook/workflow'

/** The catalogue, and what else the API of this service does. */
export const serviceEventTypes = defineEventTypes({
  ...workflowEventTypes,
  'api:changes:pause': { description: 'A running change was put on hold' },
  'api:changes:resume': { description: 'A change that was on hold went on' },
  'api:workflow_runs:pause': { description: 'A running workflow was put on hold' },
  'api:workflow_runs:resume': { description: 'A workflow that was on hold went on' },
  'api:template_versions:create': { description: 'A template was given a further version' },
})
