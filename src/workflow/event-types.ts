import { defineEventTypes } from '../define-event-types.js'
import type { EventTypes } from '../event/event-types.js'
import { germanSentences } from './german-sentences.js'

/** Severity numbers of OpenTelemetry, for types of failures whose level does not show this. */
const WARN = 13
const ERROR = 17

/* Events of OCSF, with the uids of their classes. */
const POLICY = { class: 3004, set: { 'entity.type_id': 5, 'entity.type': 'Policy' } } as const
const EMAIL = { class: 4009, activity: 1 } as const
const LIFECYCLE = { class: 6002 } as const
const VAULT = { 'databucket.type': 'Secret vault' } as const
const APPLICATION_ERROR = { class: 6008, activity: 1 } as const
const LOG_DELETION = { class: 1008, activity: 2 } as const

const types = {
  // Changes
  'api:changes:create': {
    area: 'Changes',
    description: 'A new change was set up',
    sentence: 'created {@thing}[ in {@project}] | {@thing} created[ in {@project}]',
  },
  'api:changes:start': {
    area: 'Changes',
    description: 'A change began to run',
    sentence: 'started {@thing} | {@thing} started',
  },
  'api:changes:success': {
    area: 'Changes',
    description: 'A change ended with all of its steps having succeeded',
    sentence: 'ran {@thing}, which finished | {@thing} finished',
  },
  'api:changes:error': {
    area: 'Changes',
    description: 'A failing step brought its change to a halt',
    sentence: 'ran {@thing}, which failed[: {@reason}] | {@thing} failed[: {@reason}]',
    severity: ERROR,
  },
  'api:changes:cancel': {
    area: 'Changes',
    description: 'A change was called off by a cancellation',
    sentence:
      'cancelled {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} cancelled[: “{message}”|: “{request_body_message}”]',
  },
  'api:changes:abort': {
    area: 'Changes',
    description: 'A change was cut short by an abort',
    sentence:
      'aborted {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} aborted[: “{message}”|: “{request_body_message}”]',
  },
  'audit:changes:pause': {
    area: 'Changes',
    description:
      'Someone put a change on hold while it was running, with a reason if one was given',
    sentence:
      'paused {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} paused[: “{message}”|: “{request_body_message}”]',
    data: ['message'],
  },
  'audit:changes:resume': {
    area: 'Changes',
    description: 'Someone let a change on hold run on, with a reason if one was given',
    sentence:
      'resumed {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} resumed[: “{message}”|: “{request_body_message}”]',
    data: ['message'],
  },
  'api:changes:retry_settings_pruned': {
    area: 'Changes',
    description:
      'The retry of an unfinished change discarded overrides of settings it may no longer use',
    sentence:
      'retried {@thing} without overrides that are no longer valid[: {dropped_settings}] | {@thing} retried without overrides that are no longer valid[: {dropped_settings}]',
    data: ['dropped_settings'],
  },
  'warn:changes:catalog_not_refreshed': {
    area: 'Changes',
    description:
      'A retry on the newest Git revision found no actions for it and fell back on the actions ' +
      'and steps of the original',
    sentence:
      'retried {@thing} with the actions of the original[, as those of **{template_version}** were not available] | {@thing} retried with the actions of the original[, as those of **{template_version}** were not available]',
    data: ['action', 'template_version', 'catalog_request_status'],
  },
  'api:changes:destroy': {
    area: 'Changes',
    description: 'A change was removed',
    sentence: 'deleted {@thing}[ in {@project}] | {@thing} deleted[ in {@project}]',
  },
  'api:change_listener:error': {
    area: 'Changes',
    description: 'The listener for cancelled changes broke down',
    sentence: '| listener for cancelled changes failed[: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
  },
  'error:change_worker:delete': {
    area: 'Changes',
    description:
      'Clearing away the runner pod of a finished change failed; someone may have to do it by hand',
    sentence: '| runner pod of [{@change}|a change] could not be removed[: {@reason}]',
    data: ['error', 'backtrace'],
  },

  // Steps
  'api:steps:start': {
    area: 'Steps',
    description: 'A step began to run',
    sentence: 'started {@thing} | {@thing} started',
  },
  'api:steps:approve': {
    area: 'Steps',
    description: 'Approval was given to a step',
    sentence:
      'approved {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} approved[: “{message}”|: “{request_body_message}”]',
  },
  'api:steps:reject': {
    area: 'Steps',
    description: 'Approval was refused to a step',
    sentence:
      'rejected {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} rejected[: “{message}”|: “{request_body_message}”]',
  },
  'api:steps:continue': {
    area: 'Steps',
    description: 'A step on hold was released to carry on',
    sentence:
      'continued {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} continued[: “{message}”|: “{request_body_message}”]',
  },
  'api:steps:success': {
    area: 'Steps',
    description: 'A step succeeded in carrying out its action',
    sentence: 'ran {@thing}, which finished | {@thing} finished',
  },
  'api:steps:error': {
    area: 'Steps',
    description: 'A step failed to move to another status',
    sentence: '| {@thing} could not change its status[: {@reason}]',
    severity: ERROR,
  },
  'api:steps:cancel': {
    area: 'Steps',
    description: 'A step was called off by a cancellation',
    sentence:
      'cancelled {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} cancelled[: “{message}”|: “{request_body_message}”]',
  },
  'api:steps:abort': {
    area: 'Steps',
    description: 'A step was cut short by an abort',
    sentence:
      'aborted {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} aborted[: “{message}”|: “{request_body_message}”]',
  },
  'error:step:action': {
    area: 'Steps',
    description: 'The action of a step threw an error',
    sentence: 'ran {@thing}, which failed[: {@reason}] | {@thing} failed[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:step:processing': {
    area: 'Steps',
    description: 'The service had no way to process a step and marked it as failed',
    sentence: '| {@thing} could not be processed[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:step:fsm_failure': {
    area: 'Steps',
    description: 'An error was thrown while a step changed status',
    sentence: '| {@thing} could not change its status[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:steps:transient_error': {
    area: 'Steps',
    description:
      'A passing database fault held up a step; it is tried again and ends in `system_error` if ' +
      'that never works',
    sentence: '| {@thing} was delayed by a temporary database error[: {@reason}]',
    data: ['error', 'backtrace'],
    throttle: { period: { hours: 1 } },
  },
  'api:assign_system_error_job:error': {
    area: 'Steps',
    description: 'The job that puts a step into `system_error` broke down',
    sentence: '| job that gives steps the status system_error failed[: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
  },

  // Approvals
  'audit:steps:approve': {
    area: 'Approvals',
    description: 'Someone gave a step the approval it was waiting for',
    sentence:
      'approved {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} approved[: “{message}”|: “{request_body_message}”]',
  },
  'audit:steps:reject': {
    area: 'Approvals',
    description: 'Someone refused a step the approval it was waiting for, which aborts the step',
    sentence:
      'rejected {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} rejected[: “{message}”|: “{request_body_message}”]',
  },
  'audit:steps:continue': {
    area: 'Approvals',
    description: 'Someone released a step that was on hold',
    sentence:
      'continued {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} continued[: “{message}”|: “{request_body_message}”]',
  },
  'audit:steps:approve:denied': {
    area: 'Approvals',
    description: 'Someone outside the approvers of a step was stopped from approving it',
    sentence: 'was not allowed to approve {@thing} | {@thing} could not be approved: not allowed',
    severity: WARN,
  },
  'audit:steps:reject:denied': {
    area: 'Approvals',
    description: 'Someone outside the approvers of a step was stopped from rejecting it',
    sentence: 'was not allowed to reject {@thing} | {@thing} could not be rejected: not allowed',
    severity: WARN,
  },
  'audit:steps:continue:denied': {
    area: 'Approvals',
    description: 'Someone was stopped from continuing a step that only an approval can release',
    sentence: 'was not allowed to continue {@thing} | {@thing} could not be continued: not allowed',
    severity: WARN,
  },
  'audit:workflow_steps:approve': {
    area: 'Approvals',
    description: 'Someone gave a workflow step the approval it was waiting for',
    sentence:
      'approved {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} approved[: “{message}”|: “{request_body_message}”]',
  },
  'audit:workflow_steps:reject': {
    area: 'Approvals',
    description: 'Someone refused a workflow step its pending approval, which aborts the step',
    sentence:
      'rejected {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} rejected[: “{message}”|: “{request_body_message}”]',
  },
  'audit:workflow_steps:continue': {
    area: 'Approvals',
    description: 'Someone released a workflow step that was on hold',
    sentence:
      'continued {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} continued[: “{message}”|: “{request_body_message}”]',
  },
  'audit:workflow_steps:approve:denied': {
    area: 'Approvals',
    description: 'Someone outside the approvers of a workflow step was stopped from approving it',
    sentence: 'was not allowed to approve {@thing} | {@thing} could not be approved: not allowed',
    severity: WARN,
  },
  'audit:workflow_steps:reject:denied': {
    area: 'Approvals',
    description: 'Someone outside the approvers of a workflow step was stopped from rejecting it',
    sentence: 'was not allowed to reject {@thing} | {@thing} could not be rejected: not allowed',
    severity: WARN,
  },
  'audit:workflow_steps:continue:denied': {
    area: 'Approvals',
    description:
      'Someone was stopped from continuing a workflow step that only an approval can release',
    sentence: 'was not allowed to continue {@thing} | {@thing} could not be continued: not allowed',
    severity: WARN,
  },
  'warn:approval_identity_unresolved': {
    area: 'Approvals',
    description:
      'Loading actions or refreshing LDAP met approvers matching no user or group; their steps ' +
      'stay blocked until fixed',
    sentence:
      '| [approver **{approver}**[ of {@step}] is|approvers **{approvers}**[ of {@step}] are|an approver[ of {@step}] is] not a known user or group',
    throttle: { period: { hours: 1 } },
  },
  'warn:approval_identity_validation_skipped': {
    area: 'Approvals',
    description:
      'With the LDAP directory out of reach, the names of approvers were let through without a ' +
      'check',
    sentence:
      '| names of approvers[ of {@step}] were not checked, as the LDAP directory could not be reached[: {@reason}]',
    throttle: { period: { hours: 1 } },
  },

  // Workflows
  'api:workflows:create': {
    area: 'Workflows',
    source: '/api/workflows/{workflow_id}',
    description: 'A new workflow was set up',
    sentence: 'created {@thing} | {@thing} created',
  },
  'api:workflows:update': {
    area: 'Workflows',
    source: '/api/workflows/{workflow_id}',
    description: 'A workflow was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][: {@fields}]',
  },
  'api:workflow_runs:create': {
    area: 'Workflows',
    description: 'A new workflow run was set up',
    sentence: 'created {@thing} | {@thing} created',
  },
  'api:workflow_runs:start': {
    area: 'Workflows',
    description: 'A workflow run got under way',
    sentence: 'started {@thing} | {@thing} started',
  },
  'api:workflow_runs:success': {
    area: 'Workflows',
    description: 'A workflow run ended with all of its steps having succeeded',
    sentence: 'ran {@thing}, which finished | {@thing} finished',
  },
  'api:workflow_runs:error': {
    area: 'Workflows',
    description: 'A failing step brought its workflow run to a halt',
    sentence: 'ran {@thing}, which failed[: {@reason}] | {@thing} failed[: {@reason}]',
    severity: ERROR,
  },
  'api:workflow_runs:cancel': {
    area: 'Workflows',
    description: 'A workflow run was called off by a cancellation',
    sentence:
      'cancelled {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} cancelled[: “{message}”|: “{request_body_message}”]',
  },
  'api:workflow_runs:abort': {
    area: 'Workflows',
    description: 'A workflow run was cut short by an abort',
    sentence:
      'aborted {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} aborted[: “{message}”|: “{request_body_message}”]',
  },
  'audit:workflow_runs:pause': {
    area: 'Workflows',
    description: 'Someone put a workflow run on hold while it ran, with a reason if one was given',
    sentence:
      'paused {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} paused[: “{message}”|: “{request_body_message}”]',
    data: ['message'],
  },
  'audit:workflow_runs:resume': {
    area: 'Workflows',
    description: 'Someone let a workflow run on hold go on, with a reason if one was given',
    sentence:
      'resumed {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} resumed[: “{message}”|: “{request_body_message}”]',
    data: ['message'],
  },
  'api:workflow_runs:destroy': {
    area: 'Workflows',
    description: 'A workflow run was removed',
    sentence: 'deleted {@thing} | {@thing} deleted',
  },
  'api:workflow_steps:start': {
    area: 'Workflows',
    description: 'A workflow step began to run',
    sentence: 'started {@thing} | {@thing} started',
  },
  'api:workflow_steps:approve': {
    area: 'Workflows',
    description: 'Approval was given to a workflow step',
    sentence:
      'approved {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} approved[: “{message}”|: “{request_body_message}”]',
  },
  'api:workflow_steps:reject': {
    area: 'Workflows',
    description: 'Approval was refused to a workflow step',
    sentence:
      'rejected {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} rejected[: “{message}”|: “{request_body_message}”]',
  },
  'api:workflow_steps:continue': {
    area: 'Workflows',
    description: 'A workflow step on hold was released to carry on',
    sentence:
      'continued {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} continued[: “{message}”|: “{request_body_message}”]',
  },
  'api:workflow_steps:success': {
    area: 'Workflows',
    description: 'A workflow step ended in success',
    sentence: 'ran {@thing}, which finished | {@thing} finished',
  },
  'api:workflow_steps:error': {
    area: 'Workflows',
    description: 'A workflow step ended in failure',
    sentence: 'ran {@thing}, which failed[: {@reason}] | {@thing} failed[: {@reason}]',
    severity: ERROR,
  },
  'api:workflow_steps:cancel': {
    area: 'Workflows',
    description: 'A workflow step was called off by a cancellation',
    sentence:
      'cancelled {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} cancelled[: “{message}”|: “{request_body_message}”]',
  },
  'api:workflow_steps:abort': {
    area: 'Workflows',
    description: 'A workflow step was cut short by an abort',
    sentence:
      'aborted {@thing}[: “{message}”|: “{request_body_message}”] | {@thing} aborted[: “{message}”|: “{request_body_message}”]',
  },
  'error:workflow_step:fsm_failure': {
    area: 'Workflows',
    description: 'An error was thrown while a workflow step changed status',
    sentence: '| {@thing} could not change its status[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:workflow_step:run_failure': {
    area: 'Workflows',
    description: 'An error was thrown while a workflow step was being run',
    sentence: 'ran {@thing}, which failed[: {@reason}] | {@thing} failed[: {@reason}]',
    data: ['error', 'backtrace'],
  },

  // Scheduled changes and workflows
  'api:scheduled_changes:create': {
    area: 'Scheduled changes and workflows',
    description: 'A change was put on a schedule',
    sentence: 'created {@thing}[ in {@project}] | {@thing} created[ in {@project}]',
  },
  'api:scheduled_changes:destroy': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled change was removed',
    sentence: 'deleted {@thing}[ in {@project}] | {@thing} deleted[ in {@project}]',
  },
  'api:scheduled_workflows:create': {
    area: 'Scheduled changes and workflows',
    source: '/api/scheduled_workflows/{scheduled_workflow_id}',
    description: 'A workflow was put on a schedule',
    sentence: 'created {@thing} | {@thing} created',
  },
  'api:scheduled_workflows:destroy': {
    area: 'Scheduled changes and workflows',
    source: '/api/scheduled_workflows/{scheduled_workflow_id}',
    description: 'A scheduled workflow was removed',
    sentence: 'deleted {@thing} | {@thing} deleted',
  },
  'api:scheduled_changes:change_creation:create': {
    area: 'Scheduled changes and workflows',
    description: 'The time set for a scheduled change arrived and work on making the change began',
    sentence: '| {@thing} is due',
  },
  'api:scheduled_changes:change_creation:success': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled change finished making its change',
    sentence: '| [{@change}|change] created on schedule[ **{name}**]',
  },
  'api:scheduled_workflows:workflow_run_creation:create': {
    area: 'Scheduled changes and workflows',
    source: '/api/scheduled_workflows/{scheduled_workflow_id}',
    description: 'The time set for a scheduled workflow arrived and work on making the run began',
    sentence: '| {@thing} is due',
  },
  'api:scheduled_workflows:workflow_run_creation:success': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled workflow finished making its run',
    sentence: '| [{@workflow_run}|workflow run] created on schedule[ **{name}**]',
  },
  'error:scheduled_changes:change_creation': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled change failed to produce its change',
    sentence: '| {@thing} could not create its change[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:scheduled_changes:git_sha': {
    area: 'Scheduled changes and workflows',
    description: 'No Git SHA could be found for a scheduled change, which therefore made no change',
    sentence: '| {@thing} created no change, as its Git revision was not found[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:scheduled_workflows:workflow_run_creation': {
    area: 'Scheduled changes and workflows',
    source: '/api/scheduled_workflows/{scheduled_workflow_id}',
    description: 'A scheduled workflow failed to produce its run',
    sentence: '| {@thing} could not create its workflow run[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'warning:scheduled_activity:skipped': {
    area: 'Scheduled changes and workflows',
    source: '/api/scheduled_workflows/{scheduled_workflow_id}',
    description:
      'A scheduled workflow or change was passed over, its previous one still running and ' +
      'overlap being forbidden',
    sentence:
      '| [{@scheduled_change}|{@scheduled_workflow}|{@thing}] skipped, as the one before is still running',
    throttle: { period: { hours: 1 } },
  },
  'warning:scheduled_changes:commit_file_patterns': {
    area: 'Scheduled changes and workflows',
    description:
      'A scheduled change had commit file patterns that failed to evaluate (it ran anyway) or ' +
      'never matched in its schedule',
    sentence:
      '| commit file patterns of {@thing} could not be evaluated, or never matched[: {@reason}]',
    throttle: { period: { hours: 1 } },
  },

  // Projects, environments, assets, bookmarks
  'api:projects:create': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A new project was set up',
    sentence: 'created {@thing} | {@thing} created',
  },
  'api:projects:update': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A project was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][: {@fields}]',
  },
  'api:projects:destroy': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A project was removed',
    sentence: 'deleted {@thing} | {@thing} deleted',
  },
  'api:nodes:create': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A new asset, agent or environment was set up',
    sentence: 'created {@thing}[ in {@project}] | {@thing} created[ in {@project}]',
  },
  'api:nodes:update': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'An asset, agent or environment was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][ in {@project}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][ in {@project}][: {@fields}]',
  },
  'api:nodes:destroy': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'An asset, agent or environment was removed',
    sentence: 'deleted {@thing}[ in {@project}] | {@thing} deleted[ in {@project}]',
  },
  'api:bookmarks:create': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A new bookmark was added',
    sentence: 'created {@thing} | {@thing} created',
  },
  'api:bookmarks:update': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A bookmark was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][: {@fields}]',
  },
  'api:bookmarks:destroy': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A bookmark was removed',
    sentence: 'deleted {@thing} | {@thing} deleted',
  },

  // Properties and settings
  'api:properties:update': {
    area: 'Properties and settings',
    description: 'New values were given to properties',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][ in {@project}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][ in {@project}][: {@fields}]',
  },
  'api:settings:update': {
    area: 'Properties and settings',
    description: 'New values were given to settings',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][ in {@project}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][ in {@project}][: {@fields}]',
  },
  'info:maintenance_mode:enabled': {
    area: 'Properties and settings',
    description: 'Maintenance began: the global setting `maintenance_mode` was switched on',
    sentence: 'turned maintenance mode on | maintenance mode turned on',
    ocsf: LIFECYCLE,
  },
  'info:maintenance_mode:disabled': {
    area: 'Properties and settings',
    description: 'Maintenance ended: the global setting `maintenance_mode` was switched off',
    sentence: 'turned maintenance mode off | maintenance mode turned off',
    ocsf: LIFECYCLE,
  },
  'warn:settings:override': {
    area: 'Properties and settings',
    description:
      'A `<SERVICE>_OVERRIDE_` environment variable of the deployment took the place of a ' +
      'stored setting',
    sentence:
      '| [setting **{name}**|setting **{setting}**|setting] overridden by [environment variable **{variable}**|an environment variable]',
  },

  // Templates and template versions
  'api:templates:create': {
    area: 'Templates and template versions',
    description: 'A new template was set up',
    sentence: 'created {@thing} | {@thing} created',
  },
  'api:templates:update': {
    area: 'Templates and template versions',
    description: 'A template was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][: {@fields}]',
  },
  'api:template_versions:update': {
    area: 'Templates and template versions',
    description: 'A version of a template was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][: {@fields}]',
  },
  'api:action_refresh:warn': {
    area: 'Templates and template versions',
    description:
      'A changed template version could not renew the actions of an asset, which goes on with ' +
      'its old ones',
    sentence:
      '| actions of [{@node}|an asset] could not be refreshed, the previous ones stay in use[: {@reason}]',
    data: ['error'],
    severity: WARN,
  },
  'info:template_version:fetch_initialize': {
    area: 'Templates and template versions',
    description: 'A new template version joined the queue for its initial fetch',
    sentence: 'queued the first fetch of {@thing} | {@thing} queued for its first fetch',
  },
  'info:template_version:fetch': {
    area: 'Templates and template versions',
    description:
      'The Git fetch for a template version began; its output is added to this event while it runs',
    sentence:
      '[is fetching {@thing}, {@progress}|started to fetch {@thing}] | [{@thing} is being fetched, {@progress}|fetch of {@thing} started]',
    data: ['progress'],
    live: true,
  },
  'info:template_version:fetch_complete': {
    area: 'Templates and template versions',
    description: 'The Git fetch for a template version ended, successfully or not',
    sentence:
      '[{success=true}fetched {@thing}|{success=false}could not fetch {@thing}|ended the fetch of {@thing}] | [{success=true}{@thing} fetched|{success=false}{@thing} could not be fetched|fetch of {@thing} ended]',
    data: ['success'],
  },
  'info:template_version:refresh_cancelled': {
    area: 'Templates and template versions',
    description: 'A running refresh of actions was called off',
    sentence: 'cancelled the refresh of {@thing} | refresh of {@thing} cancelled',
  },
  'info:template_version:refresh_superseded': {
    area: 'Templates and template versions',
    description:
      'A revision refresh was cancelled or overtaken by a later one, so its outcome was set ' +
      'aside without any failure',
    sentence: '| refresh of {@thing} superseded by a newer one or cancelled',
  },
  'warn:template_version:float_refresh_failed': {
    area: 'Templates and template versions',
    description:
      'A version tracking a Git revision failed to refresh; it stays on its commit and shows ' +
      'why until tracking resumes',
    sentence: '| {@thing} could not follow its Git revision and keeps its commit[: {@reason}]',
  },
  'error:template_version:fetch': {
    area: 'Templates and template versions',
    description: 'Fetching the Git repository of a template version failed',
    sentence: 'could not fetch {@thing}[: {@reason}] | {@thing} could not be fetched[: {@reason}]',
    data: ['fetch_output', 'error', 'backtrace'],
  },
  'error:template_version:commit_verification': {
    area: 'Templates and template versions',
    description:
      'Checking the revision of a template version and the Git remote it comes from failed',
    sentence: '| Git remote and revision of {@thing} could not be verified[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:template_version:broken': {
    area: 'Templates and template versions',
    description: 'A template version was flagged as broken, out of use until someone fixes it',
    sentence: 'marked {@thing} as broken[: {@reason}] | {@thing} marked as broken[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:template_version:build_agent_image': {
    area: 'Templates and template versions',
    description: 'No agent image could be built for a template version',
    sentence: '| agent image of {@thing} could not be built[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:template_version:refresh_actions': {
    area: 'Templates and template versions',
    description: 'Refreshing the actions of a template version failed',
    sentence: '| actions of {@thing} could not be refreshed[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:template_version:refresh_cancelled': {
    area: 'Templates and template versions',
    description: 'Calling off a running refresh of actions failed',
    sentence:
      'could not cancel the refresh of {@thing}[: {@reason}] | refresh of {@thing} could not be cancelled[: {@reason}]',
    data: ['error', 'backtrace'],
  },

  // Asset model generation
  'api:generate_actions_request:create': {
    area: 'Asset model generation',
    description: 'Generation of the actions of an asset was requested',
    sentence:
      'requested the actions of [{@node}|an asset][, triggered by {trigger}] | actions of [{@node}|an asset] requested[, triggered by {trigger}]',
    data: ['trigger'],
  },
  'error:generate_actions_request:generate': {
    area: 'Asset model generation',
    description: 'Generating the requested actions of an asset failed',
    sentence: '| actions of [{@node}|an asset] could not be generated[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:assetmodel:generate': {
    area: 'Asset model generation',
    description:
      'The outside model API failed to produce the model of an asset from the converged ' +
      'properties it was sent',
    sentence: '| model of [{@node}|an asset] could not be generated[: {@reason}]',
    data: ['error', 'converged_properties', 'backtrace'],
  },
  'error:assetmodel:derive_actions': {
    area: 'Asset model generation',
    description: 'No actions could be worked out from the model of an asset',
    sentence: '| actions of [{@node}|an asset] could not be derived from its model[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:assetmodel:actions_cache_not_persisted': {
    area: 'Asset model generation',
    description:
      'Caching the generated actions failed; until that is fixed they are made afresh on every use',
    sentence: '| generated actions of [{@node}|an asset] could not be cached[: {@reason}]',
    data: ['error', 'backtrace'],
    throttle: { period: { hours: 1 } },
  },
  'error:asset_model_concretise_task:concretise': {
    area: 'Asset model generation',
    description: 'A task to concretise a model ended in failure',
    sentence: '| model of [{@node}|an asset] could not be concretised[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'warn:assetmodel:actions_unavailable': {
    area: 'Asset model generation',
    description:
      'Generation went on without knowing the model actions, so `assetmodel_actions` gave ' +
      '`actions.rb` an empty catalogue',
    sentence:
      '| model actions of [{@node}|an asset] could not be determined, so it was generated without them[: {@reason}]',
    throttle: { period: { hours: 1 } },
  },

  // Agents
  'api:agent:start': {
    area: 'Agents',
    description:
      'The start of an agent was requested, which set up the task that makes its container',
    sentence: 'asked {@thing} to start | {@thing} was asked to start',
    ocsf: LIFECYCLE,
  },
  'api:agent:started': {
    area: 'Agents',
    description: 'The container of an agent came up',
    sentence: '| {@thing} is running',
    ocsf: LIFECYCLE,
  },
  'api:agent:stop': {
    area: 'Agents',
    description:
      'The stop of an agent was requested, which set up the task that takes down its container',
    sentence: 'asked {@thing} to stop | {@thing} was asked to stop',
    ocsf: LIFECYCLE,
  },
  'api:agent:stopped': {
    area: 'Agents',
    description: 'The container of an agent was gone',
    sentence: '| {@thing} stopped',
    ocsf: LIFECYCLE,
  },
  'error:agent:start': {
    area: 'Agents',
    description: 'Making the container of an agent failed',
    sentence: 'could not start {@thing}[: {@reason}] | {@thing} could not be started[: {@reason}]',
    data: ['error', 'backtrace'],
    ocsf: LIFECYCLE,
  },
  'error:agent:stop': {
    area: 'Agents',
    description: 'Taking down the container of an agent failed',
    sentence: 'could not stop {@thing}[: {@reason}] | {@thing} could not be stopped[: {@reason}]',
    data: ['error', 'backtrace'],
    ocsf: LIFECYCLE,
  },
  'warn:agent:image_missing': {
    area: 'Agents',
    description:
      'The site starting an agent had no image of it and is building one, after which the agent ' +
      'starts there by itself',
    sentence: '| {@thing} waits for its image, which is being built',
  },
  'error:build_agent_image_task:build': {
    area: 'Agents',
    description: 'The image of an agent failed to build',
    sentence: '| image of [agent **{name}**|{@agent}|an agent] could not be built[: {@reason}]',
    data: ['error', 'backtrace'],
  },

  // Image builds and registry
  'info:image_build:queued': {
    area: 'Image builds and registry',
    description:
      'A build was made to wait, as many image builds being under way as the configuration permits',
    sentence: '| {@thing} queued[ behind **{queued_behind:count}** {queued_behind:other/others}]',
    data: ['queued_behind'],
  },
  'info:image_build:started': {
    area: 'Image builds and registry',
    description: 'The build of an image began',
    sentence: 'started {@thing} | {@thing} started',
  },
  'info:image_build:completed': {
    area: 'Image builds and registry',
    description: 'The build of an image ended in success',
    sentence: 'ran {@thing}, which finished | {@thing} finished',
  },
  'info:image_build:failed': {
    area: 'Image builds and registry',
    description: 'The build of an image ended in failure',
    sentence: '| {@thing} failed[: {@reason}]',
    severity: ERROR,
  },
  'warn:image_build:content_key_error': {
    area: 'Image builds and registry',
    description:
      'No key could be worked out to spot an equivalent image, so a new one was built instead',
    sentence:
      '| image[ **{name}**] rebuilt, as it could not be compared with existing ones[: {@reason}]',
  },
  'warn:image_build:required_check_error': {
    area: 'Image builds and registry',
    description:
      'Whether an image had to be built could not be settled, so it was built as a precaution',
    sentence:
      '| image[ **{name}**] built to be safe, as the need for it could not be determined[: {@reason}]',
  },
  'info:runner_base_image_warm:completed': {
    area: 'Image builds and registry',
    description: 'The build cache took in the base image of runners ahead of need',
    sentence: '| runner base image pulled into the build cache[ in {duration_seconds} s]',
    data: ['duration_seconds'],
  },
  'warn:runner_base_image_warm:failed': {
    area: 'Image builds and registry',
    description:
      'The build cache failed to take in the base image of runners, leaving the first build to ' +
      'wait for its download',
    sentence: '| runner base image could not be pulled into the build cache[: {@reason}]',
    throttle: { period: { hours: 1 } },
  },
  'info:registry_reconcile:summary': {
    area: 'Image builds and registry',
    description:
      'Images in the registry were compared with those in need, and the unused ones deleted',
    sentence:
      '| [**{removed_count}** unused {removed_count:image/images} removed from the image registry|image registry reconciled]',
  },
  'error:registry_reconcile:failure': {
    area: 'Image builds and registry',
    description: 'Comparing the images in the registry with those in need failed',
    sentence: '| image registry could not be reconciled[: {@reason}]',
    data: ['error', 'backtrace'],
  },

  // Git remotes
  'api:git_remotes:create': {
    area: 'Git remotes',
    description: 'A new Git remote was set up',
    sentence: 'created {@thing} | {@thing} created',
  },
  'api:git_remotes:update': {
    area: 'Git remotes',
    description: 'A Git remote was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][: {@fields}]',
  },
  'api:git_remotes:destroy': {
    area: 'Git remotes',
    description: 'A Git remote was removed',
    sentence: 'deleted {@thing} | {@thing} deleted',
  },
  'api:git_remote_pushes:create': {
    area: 'Git remotes',
    description:
      'A `git_clone` resource sent commits to a Git remote by way of the service; refused ' +
      'pushes leave no event',
    sentence:
      'pushed [**{branch}**|commits][ of **{git_remote_name}**| to {@git_remote}][ from **{expected_sha:sha}**][ to **{pushed_sha:sha}**][, {bundle_bytes:bytes}] | [**{branch}**|commits][ of **{git_remote_name}**| of {@git_remote}] pushed[ from **{expected_sha:sha}**][ to **{pushed_sha:sha}**][, {bundle_bytes:bytes}]',
    data: [
      'branch',
      'pushed_sha',
      'expected_sha',
      'project_code',
      'git_remote_name',
      'bundle_bytes',
    ],
  },
  'error:git_remote:create': {
    area: 'Git remotes',
    description:
      'A new Git remote gave no answer; it is kept, but changes that need it fail as long as ' +
      'that lasts',
    sentence:
      'created {@thing}, which could not be reached[: {@reason}] | {@thing} created, but could not be reached[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:git_remote:update': {
    area: 'Git remotes',
    description: 'A Git remote gave no answer once it had been altered',
    sentence:
      'updated {@thing}, which could not be reached[: {@reason}] | {@thing} updated, but could not be reached[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:git_remote:fetch': {
    area: 'Git remotes',
    description: 'A fetch from a Git remote failed',
    sentence: 'could not fetch {@thing}[: {@reason}] | {@thing} could not be fetched[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'warn:git_remote:mountable_fetch_failed': {
    area: 'Git remotes',
    description:
      'A runner pod got a `git_clone` mirror that may be old or absent, as updating it from the ' +
      'remote beforehand failed',
    sentence:
      '| {@thing} could not be refreshed for a runner pod, whose mirror may be old or missing[: {@reason}]',
    throttle: { period: { hours: 1 } },
  },
  'warn:git_remote:push_refresh_failed': {
    area: 'Git remotes',
    description:
      'A push from `git_clone` went through, but fetching the result back into the service failed',
    sentence: '| {@thing} could not be refreshed after a push[: {@reason}]',
    throttle: { period: { hours: 1 } },
  },
  'warn:git_remote:periodic_fetch:failed': {
    area: 'Git remotes',
    description:
      'A timed background fetch failed; more failures space out the retries, under ' +
      '`git_remote.periodic_fetch_interval`',
    sentence: '| {@thing} could not be fetched[: {@reason}]',
    throttle: { period: { hours: 1 } },
  },
  'info:git_remote:periodic_fetch:recovered': {
    area: 'Git remotes',
    description:
      'A background fetch worked again; the message says how many had failed in a row before it',
    sentence: '| {@thing} fetched again[: {@reason}]',
    data: ['message'],
  },
  'info:git_remote:periodic_fetch:summary': {
    area: 'Git remotes',
    description:
      'Counts, stalest fetch and fetch times of all active remotes, subject to ' +
      '`git_remote.periodic_fetch_summary.enabled`',
    sentence:
      '| [**{fetched_count:count}**[ of {total_count:count}] Git {fetched_count:remote/remotes} fetched[, {failing_count:count} failing]|Git remotes fetched]',
    data: [
      'total_count',
      'fetched_count',
      'failing_count',
      'oldest_fetch_at',
      'fastest_seconds',
      'median_seconds',
      'p95_seconds',
      'slowest_seconds',
    ],
    onlyWhile: 'git_remote.periodic_fetch_summary.enabled',
    cadence: { days: 1 },
  },

  // Secrets
  'api:secrets:encrypt': {
    area: 'Secrets',
    source: '/api/secrets/{secret_id}',
    description: 'The secret vault took in a value in encrypted form',
    sentence:
      'stored [secret **{path}**|secret **{name}**|a secret] | secret[ **{path}**| **{name}**] stored',
    ocsf: { class: 6005, activity: 9, set: VAULT },
  },
  'api:secrets:resolve': {
    area: 'Secrets',
    source: '/api/secrets/{secret_id}',
    description: 'A secret was taken from the vault and handed over in the clear',
    sentence:
      'read [secret **{path}**|secret **{name}**|a secret] | secret[ **{path}**| **{name}**] read',
    ocsf: { class: 6005, activity: 10, set: VAULT },
  },
  'info:secret_vault_pod_roll:summary': {
    area: 'Secrets',
    description: 'Pods of the secret vault whose configuration was out of date were restarted',
    sentence:
      '| [**{restarted_count:count}** outdated secret vault {restarted_count:pod/pods}|outdated secret vault pods] restarted',
  },
  'error:secret_vault_pod_roll:failure': {
    area: 'Secrets',
    description:
      'Pods of the secret vault with an out-of-date configuration could not be restarted',
    sentence: '| outdated secret vault pods could not be restarted[: {@reason}]',
    data: ['error', 'backtrace'],
  },

  // Authorisation
  'api:authorisation_policies:create': {
    area: 'Authorisation',
    source: '/api/authorisation_policies/{authorisation_policy_id}',
    description: 'A new authorisation policy was set up',
    sentence: 'created {@thing} | {@thing} created',
    ocsf: POLICY,
  },
  'api:authorisation_policies:update': {
    area: 'Authorisation',
    source: '/api/authorisation_policies/{authorisation_policy_id}',
    description: 'An authorisation policy was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][: {@fields}]',
    ocsf: POLICY,
  },
  'api:authorisation_policies:destroy': {
    area: 'Authorisation',
    source: '/api/authorisation_policies/{authorisation_policy_id}',
    description: 'An authorisation policy was removed',
    sentence: 'deleted {@thing} | {@thing} deleted',
    ocsf: POLICY,
  },
  'api:authorisation_rules:create': {
    area: 'Authorisation',
    source: '/api/authorisation_rules/{authorisation_rule_id}',
    description: 'A new authorisation rule was set up',
    sentence: 'created {@thing} | {@thing} created',
    ocsf: POLICY,
  },
  'api:authorisation_rules:update': {
    area: 'Authorisation',
    source: '/api/authorisation_rules/{authorisation_rule_id}',
    description: 'An authorisation rule was altered',
    sentence:
      '[changed {@changes} of {@thing}|updated {@thing}][: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated][: {@fields}]',
    ocsf: POLICY,
  },
  'api:authorisation_rules:destroy': {
    area: 'Authorisation',
    source: '/api/authorisation_rules/{authorisation_rule_id}',
    description: 'An authorisation rule was removed',
    sentence: 'deleted {@thing} | {@thing} deleted',
    ocsf: POLICY,
  },
  'api:policy_assignments:create': {
    area: 'Authorisation',
    source: '/api/policy_assignments/{policy_assignment_id}',
    description: 'A user or group was given a policy',
    sentence:
      'assigned [{@policy}|{@authorisation_policy}|a policy] to [{@user}|{@group}|a user or group] | [{@policy}|{@authorisation_policy}|policy] assigned to [{@user}|{@group}|a user or group]',
    ocsf: POLICY,
  },
  'api:policy_assignments:destroy': {
    area: 'Authorisation',
    source: '/api/policy_assignments/{policy_assignment_id}',
    description: 'A policy was taken away from a user or group',
    sentence:
      'removed [{@policy}|{@authorisation_policy}|a policy] from [{@user}|{@group}|a user or group] | [{@policy}|{@authorisation_policy}|policy] removed from [{@user}|{@group}|a user or group]',
    ocsf: POLICY,
  },
  'api:policy_rules:create': {
    area: 'Authorisation',
    source: '/api/policy_rules/{policy_rule_id}',
    description: 'A policy gained a rule',
    sentence:
      'added [{@rule}|{@authorisation_rule}|a rule] to [{@policy}|{@authorisation_policy}|a policy] | [{@rule}|{@authorisation_rule}|rule] added to [{@policy}|{@authorisation_policy}|a policy]',
    ocsf: POLICY,
  },
  'api:policy_rules:destroy': {
    area: 'Authorisation',
    source: '/api/policy_rules/{policy_rule_id}',
    description: 'A policy lost a rule',
    sentence:
      'removed [{@rule}|{@authorisation_rule}|a rule] from [{@policy}|{@authorisation_policy}|a policy] | [{@rule}|{@authorisation_rule}|rule] removed from [{@policy}|{@authorisation_policy}|a policy]',
    ocsf: POLICY,
  },

  // Users and LDAP
  'api:ldap_refresh:user_start': {
    area: 'Users and LDAP',
    description: 'Cached users began to be refreshed from LDAP, with the search that was made',
    sentence:
      'started to refresh cached LDAP users[ below **{search_base}**] | refresh of cached LDAP users[ below **{search_base}**] started',
    data: ['search_base', 'search_filter'],
  },
  'api:ldap_refresh:group_start': {
    area: 'Users and LDAP',
    description: 'Cached groups began to be refreshed from LDAP',
    sentence: 'started to refresh cached LDAP groups | refresh of cached LDAP groups started',
  },
  'api:ldap_refresh:success': {
    area: 'Users and LDAP',
    description: 'A refresh from LDAP ended well, with the number of entries it covered',
    sentence:
      '| refresh of cached LDAP entries finished[: {entry_counts}|: {entry_counts_users} {entry_counts_users:user/users}[, {entry_counts_groups} {entry_counts_groups:group/groups}]]',
    data: ['entry_counts'],
  },
  'api:ldap_refresh:warn': {
    area: 'Users and LDAP',
    description: 'A refresh from LDAP ended with some trouble and altered nothing in the cache',
    sentence: '| refresh of cached LDAP entries had a problem and changed nothing[: {@reason}]',
    severity: WARN,
  },
  'api:ldap_refresh:error': {
    area: 'Users and LDAP',
    description:
      'A refresh from LDAP failed, or went so badly that outdated entries were dropped from the ' +
      'cache',
    sentence: '| refresh of cached LDAP entries failed[: {@reason}]',
    severity: ERROR,
  },

  // Events and notifications
  'api:event_filter:error': {
    area: 'Events and notifications',
    description: 'An event filter failed to evaluate, leaving its subscribers without notice',
    sentence: '| {@thing} could not be evaluated, so no subscriber was notified[: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
  },
  'api:event_subscriber:error': {
    area: 'Events and notifications',
    description: 'Notifying a subscriber failed',
    sentence: '| {@thing} could not be notified[: {@reason}]',
    throttle: { period: { hours: 1 } },
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
  },
  'api:event_processor:error': {
    area: 'Events and notifications',
    description: 'Processing an event failed',
    sentence: '| event could not be processed[: {@reason}]',
    throttle: { period: { hours: 1 } },
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
  },
  'api:notification:error': {
    area: 'Events and notifications',
    description: 'Delivering a notification failed',
    sentence: '| {@thing} could not be delivered[: {@reason}]',
    throttle: { period: { hours: 1 } },
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
  },
  'warn:notification_channel:disabled': {
    area: 'Events and notifications',
    description: 'A notice for a subscription was withheld, its channel being switched off',
    sentence: '| notification held back, as [channel **{channel}**|its channel] is disabled',
    data: ['channel'],
    throttle: { period: { hours: 1 }, scope: ['channel'] },
  },
  'info:email:sent': {
    area: 'Events and notifications',
    description:
      'An email went out; its message id is kept along with who sent it, to whom and about what',
    sentence:
      'sent an email[ to **{recipients}**][: “{subject}”] | email[ to **{recipients}**] sent[: “{subject}”]',
    data: ['sender', 'recipients', 'subject', 'message_id'],
    onlyWhile: 'log_email_events',
    ocsf: EMAIL,
  },
  'error:email:send_failed': {
    area: 'Events and notifications',
    description:
      'An email failed to go out; the cause is kept along with who sent it, to whom and about what',
    sentence: '| email[ “{subject}”][ to **{recipients}**] could not be sent[: {@reason}]',
    data: ['error', 'sender', 'recipients', 'subject', 'backtrace'],
    onlyWhile: 'log_email_events',
    ocsf: EMAIL,
  },

  // Data cleaning
  'info:data_cleanup:activities': {
    area: 'Data cleaning',
    description: 'A cleaning rule deleted workflow runs and changes that had ended',
    sentence:
      '| [**{removed_count:count}** finished {removed_count:change or workflow run/changes and workflow runs}|finished changes and workflow runs] removed',
    data: ['removed_count', 'filters'],
  },
  'info:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'A cleaning rule deleted old events',
    sentence:
      '| [**{removed_count:count}** {removed_count:event/events}|events][ older than {filters_max_age_days} {filters_max_age_days:day/days}] removed',
    ocsf: LOG_DELETION,
  },
  'info:data_cleanup:jobs': {
    area: 'Data cleaning',
    description: 'A cleaning rule deleted the history of past jobs',
    sentence: '| [**{removed_count:count}** past {removed_count:job/jobs}|past jobs] removed',
  },
  'info:data_cleanup:agent_images': {
    area: 'Data cleaning',
    description: 'A cleaning rule deleted agent images no longer in use',
    sentence:
      '| [**{removed_count:count}** unused agent {removed_count:image/images}|unused agent images] removed',
  },
  'info:data_cleanup:node_background_tasks': {
    area: 'Data cleaning',
    description:
      'A cleaning rule deleted background tasks of nodes, logs included, that newer ones had ' +
      'replaced',
    sentence:
      '| [**{removed_count:count}** superseded background {removed_count:task/tasks}|superseded background tasks] of nodes removed',
  },
  'info:data_cleanup:statistics': {
    area: 'Data cleaning',
    description:
      'A cleaning rule renewed the figures the query planner relies on, or left that to a site ' +
      'already at it',
    sentence:
      '| query planner statistics [of **{analyzed_tables:count}** {analyzed_tables:table/tables} refreshed|not refreshed: {skipped_reason}|refreshed]',
    data: ['analyzed_tables', 'skipped_reason'],
  },
  'error:data_cleanup:activities': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to delete ended workflow runs and changes',
    sentence: '| finished changes and workflow runs could not be removed[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to delete old events',
    sentence: '| events could not be removed[: {@reason}]',
    data: ['error', 'backtrace'],
    ocsf: LOG_DELETION,
  },
  'error:data_cleanup:jobs': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to delete the history of past jobs',
    sentence: '| past jobs could not be removed[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:agent_images': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to delete unused agent images',
    sentence: '| unused agent images could not be removed[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:node_background_tasks': {
    area: 'Data cleaning',
    description:
      'A cleaning rule failed to delete the replaced background tasks of nodes and their logs',
    sentence: '| superseded background tasks of nodes could not be removed[: {@reason}]',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:statistics': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to renew the figures the query planner relies on',
    sentence: '| query planner statistics could not be refreshed[: {@reason}]',
    data: ['error', 'backtrace'],
  },

  // Resource slots
  'warn:resource_slot_pool:full': {
    area: 'Resource slots',
    description: 'Work was left waiting, a pool of resource slots having none free',
    sentence:
      '| work waits: all[ **{configured_limit}**] slots of [pool **{pool}**|a pool] are in use',
    data: ['pool', 'configured_limit', 'cluster'],
    throttle: { period: { hours: 1 }, scope: ['cluster', 'pool'], periodStated: false },
  },
  'api:resource_slot_freed_listener:error': {
    area: 'Resource slots',
    description:
      'The listener for freed slots broke down, so work waiting for one runs later than it could',
    sentence: '| listener for freed slots failed[: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
  },

  // API autoscaler
  'info:api_autoscaler:grow': {
    area: 'API autoscaler',
    description: 'A lasting backlog of requests led to one more API worker',
    sentence: '| API worker added, as requests piled up',
  },
  'info:api_autoscaler:shrink': {
    area: 'API autoscaler',
    description: 'The backlog of requests was gone, which led to one API worker fewer',
    sentence: '| API worker removed, as no requests are waiting',
  },
  'warn:api_autoscaler:grow_blocked_connections': {
    area: 'API autoscaler',
    description:
      'One more API worker was called for, but the database had too few connections left',
    sentence: '| no API worker could be added: too few spare database connections',
    throttle: { period: { minutes: 5 } },
  },
  'warn:api_autoscaler:grow_blocked_memory': {
    area: 'API autoscaler',
    description: 'One more API worker was called for, but its pod had too little memory left',
    sentence: '| no API worker could be added: too little spare memory',
    throttle: { period: { minutes: 5 } },
  },
  'warn:api_autoscaler:worker_killed_memory': {
    area: 'API autoscaler',
    description:
      'A worker with double the memory of its peers or more in a nearly full pod was replaced, ' +
      'failing its requests (`dry_run` only notes it)',
    sentence:
      '| API worker [{dry_run=true}would have been replaced|{mode=dry_run}would have been replaced|replaced] for [using **{worker_rss:bytes}** of memory[, where others use {baseline_rss:bytes}]|its use of memory]',
    data: ['worker_rss', 'baseline_rss', 'container_anon', 'container_limit'],
  },
  'error:api_autoscaler:tick_failed': {
    area: 'API autoscaler',
    description: 'One of the regular evaluations of the autoscaler failed',
    sentence: '| API autoscaler could not evaluate the load[: {@reason}]',
    data: ['error', 'backtrace'],
    throttle: { period: { minutes: 5 } },
  },

  // Sites and database clusters
  'info:database_cluster:registered': {
    area: 'Sites and database clusters',
    description: 'The database cluster of a site made its first appearance',
    sentence: '| [database cluster **{cluster_name}**|{@thing}][ of {@site}] registered',
  },
  'info:database_cluster:role_changed': {
    area: 'Sites and database clusters',
    description: 'The database cluster of a site turned from primary to replica or the reverse',
    sentence:
      '| [database cluster **{cluster_name}**|{@thing}][ of {@site}] changed its role[ to **{role}**]',
  },
  'info:site:cordoned': {
    area: 'Sites and database clusters',
    description: 'A site was closed to new work, with the name of the person who closed it',
    sentence:
      'closed [site **{cluster_name}**|{@thing}] to new work[: “{cordon_reason}”] | [site **{cluster_name}**|{@thing}] closed to new work[ by **{cordoned_by}**][: “{cordon_reason}”]',
    data: ['cluster_name', 'cordon_reason', 'cordoned_by'],
  },
  'info:site:uncordoned': {
    area: 'Sites and database clusters',
    description: 'A closed site was opened to new work again',
    sentence:
      'opened [site **{cluster_name}**|{@thing}] to new work again | [site **{cluster_name}**|{@thing}] opened to new work again',
  },

  // Platform and background jobs
  'error:api:controller:unhandled': {
    area: 'Platform and background jobs',
    description: 'An error that nothing had foreseen made an API request fail',
    sentence:
      'hit an error[ at **{request_method} {@route}**][: {@reason}] | [**{request_method} {@route}**|a request] failed[: {@reason}]',
    data: ['request_method', 'request_path', 'error', 'backtrace'],
  },
  'api:job:error': {
    area: 'Platform and background jobs',
    description:
      'Putting a recurring job back in the queue failed, so it may miss its turn until it is ' +
      'next tried',
    sentence: '| {@thing} could not be queued again[: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
  },
  'error:logforwarder:log_failure': {
    area: 'Platform and background jobs',
    description:
      'The log aggregator failed to take step logs, which went to the database, complete but ' +
      'maybe slower to query',
    sentence: '| step logs could not be forwarded and went to the database[: {@reason}]',
    data: ['error', 'backtrace'],
  },
} as const satisfies EventTypes

const german: Readonly<Record<keyof typeof types, string>> = germanSentences

const withGerman = <Types extends EventTypes>(
  types: Types,
  sentences: Readonly<Record<keyof Types, string>>,
): Types => {
  const translated = Object.entries(types).map(([type, definition]) => [
    type,
    { ...definition, sentences: { de: sentences[type]! } },
  ])
  return Object.fromEntries(translated) as Types
}

/**
 * The system event types of a workflow service, in the areas and the order of its interface. The level of each type
 * is its first segment. `data` names the known attributes; a type without it may have any attributes. Types with
 * `onlyWhile` are recorded regardless of the setting; see `workflowEventTypesFor`. Each type has a sentence in
 * English and in German.
 */
export const workflowEventTypes = defineEventTypes(withGerman(types, german))
