import { defineEventTypes } from 'daybook'
import { workflowEventTypes } from 'daybook/workflow'

/** The address of a user. Events keep it encrypted, until the user is erased. */
const personal = [
  { subject: { kind: 'user', from: '@username' }, attributes: ['remote_address', 'user_agent'] },
]

/** The catalogue, and further operations of this API. */
export const serviceEventTypes = defineEventTypes({
  ...workflowEventTypes,
  'api:projects:update': { ...workflowEventTypes['api:projects:update'], personal },
  'api:bookmarks:create': { ...workflowEventTypes['api:bookmarks:create'], personal },
  'api:changes:pause': { description: 'A running change was paused' },
  'api:changes:resume': { description: 'A paused change was resumed' },
  'api:workflow_runs:pause': { description: 'A running workflow was paused' },
  'api:workflow_runs:resume': { description: 'A paused workflow was resumed' },
  'api:ldap_refreshes:create': { description: 'A refresh of the LDAP entries was requested' },
  'api:images:create': { description: 'A recipe of an image was created' },
  'api:images:build': { description: 'The build of an image was requested' },
  'api:cleaning_runs:create': { description: 'A run of cleaning rules was requested' },
  'api:template_versions:refresh': { description: 'A refresh of actions was requested' },
  'api:template_versions:cancel_refresh': { description: 'A refresh of actions was cancelled' },
  'api:asset_models:concretise': { description: 'A model was made concrete' },
  'api:changes:retry': { description: 'An incomplete change was started again' },
  'api:reports:create': { description: 'A report was computed' },
  'api:sites:cordon': { description: 'A site was cordoned' },
  'api:sites:uncordon': { description: 'A cordoned site was opened again' },
  'api:template_versions:create': { description: 'A version of a template was created' },
})
