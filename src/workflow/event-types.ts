import { defineEventTypes } from '../event-types.js'

/**
 * The system event types of a workflow service, in the areas and the order its interface lists
 * them. The level of each is the first segment of its type. `data` names the attributes that are
 * known; a type without it makes no promise about its attributes.
 */
export const workflowEventTypes = defineEventTypes({
  // Changes
  'api:changes:create': { area: 'Changes', description: 'A new change was set up' },
  'api:changes:start': { area: 'Changes', description: 'A change began to run' },
  'api:changes:success': {
    area: 'Changes',
    description: 'A change ended with all of its steps having succeeded',
  },
  'api:changes:error': {
    area: 'Changes',
    description: 'A failing step brought its change to a halt',
  },
  'api:changes:cancel': {
    area: 'Changes',
    description: 'A change was called off by a cancellation',
  },
  'api:changes:abort': { area: 'Changes', description: 'A change was cut short by an abort' },
  'audit:changes:pause': {
    area: 'Changes',
    description:
      'Someone put a change on hold while it was running, with a reason if one was given',
    data: ['message'],
  },
  'audit:changes:resume': {
    area: 'Changes',
    description: 'Someone let a change on hold run on, with a reason if one was given',
    data: ['message'],
  },
  'api:changes:retry_settings_pruned': {
    area: 'Changes',
    description:
      'The retry of an unfinished change discarded overrides of settings it may no longer use',
    data: ['dropped_settings'],
  },
  'warn:changes:catalog_not_refreshed': {
    area: 'Changes',
    description:
      'A retry on the newest Git revision found no actions for it and fell back on the actions ' +
      'and steps of the original',
    data: ['action', 'template_version', 'catalog_request_status'],
  },
  'api:changes:destroy': { area: 'Changes', description: 'A change was removed' },
  'api:change_listener:error': {
    area: 'Changes',
    description: 'The listener for cancelled changes broke down',
  },
  'error:change_worker:delete': {
    area: 'Changes',
    description:
      'Clearing away the runner pod of a finished change failed; someone may have to do it by hand',
    data: ['error', 'backtrace'],
  },

  // Steps
  'api:steps:start': { area: 'Steps', description: 'A step began to run' },
  'api:steps:approve': { area: 'Steps', description: 'Approval was given to a step' },
  'api:steps:reject': { area: 'Steps', description: 'Approval was refused to a step' },
  'api:steps:continue': { area: 'Steps', description: 'A step on hold was released to carry on' },
  'api:steps:success': {
    area: 'Steps',
    description: 'A step succeeded in carrying out its action',
  },
  'api:steps:error': { area: 'Steps', description: 'A step failed to move to another status' },
  'api:steps:cancel': { area: 'Steps', description: 'A step was called off by a cancellation' },
  'api:steps:abort': { area: 'Steps', description: 'A step was cut short by an abort' },
  'error:step:action': {
    area: 'Steps',
    description: 'The action of a step threw an error',
    data: ['error', 'backtrace'],
  },
  'error:step:processing': {
    area: 'Steps',
    description: 'The service had no way to process a step and marked it as failed',
    data: ['error', 'backtrace'],
  },
  'error:step:fsm_failure': {
    area: 'Steps',
    description: 'An error was thrown while a step changed status',
    data: ['error', 'backtrace'],
  },
  'error:steps:transient_error': {
    area: 'Steps',
    description:
      'A passing database fault held up a step; it is tried again and ends in `system_error` if ' +
      'that never works',
    data: ['error', 'backtrace'],
    throttle: { period: { hours: 1 } },
  },
  'api:assign_system_error_job:error': {
    area: 'Steps',
    description: 'The job that puts a step into `system_error` broke down',
  },

  // Approvals
  'audit:steps:approve': {
    area: 'Approvals',
    description: 'Someone gave a step the approval it was waiting for',
  },
  'audit:steps:reject': {
    area: 'Approvals',
    description: 'Someone refused a step the approval it was waiting for, which aborts the step',
  },
  'audit:steps:continue': {
    area: 'Approvals',
    description: 'Someone released a step that was on hold',
  },
  'audit:steps:approve:denied': {
    area: 'Approvals',
    description: 'Someone outside the approvers of a step was stopped from approving it',
  },
  'audit:steps:reject:denied': {
    area: 'Approvals',
    description: 'Someone outside the approvers of a step was stopped from rejecting it',
  },
  'audit:steps:continue:denied': {
    area: 'Approvals',
    description: 'Someone was stopped from continuing a step that only an approval can release',
  },
  'audit:workflow_steps:approve': {
    area: 'Approvals',
    description: 'Someone gave a workflow step the approval it was waiting for',
  },
  'audit:workflow_steps:reject': {
    area: 'Approvals',
    description: 'Someone refused a workflow step its pending approval, which aborts the step',
  },
  'audit:workflow_steps:continue': {
    area: 'Approvals',
    description: 'Someone released a workflow step that was on hold',
  },
  'audit:workflow_steps:approve:denied': {
    area: 'Approvals',
    description: 'Someone outside the approvers of a workflow step was stopped from approving it',
  },
  'audit:workflow_steps:reject:denied': {
    area: 'Approvals',
    description: 'Someone outside the approvers of a workflow step was stopped from rejecting it',
  },
  'audit:workflow_steps:continue:denied': {
    area: 'Approvals',
    description:
      'Someone was stopped from continuing a workflow step that only an approval can release',
  },
  'warn:approval_identity_unresolved': {
    area: 'Approvals',
    description:
      'Loading actions or refreshing LDAP met approvers matching no user or group; their steps ' +
      'stay blocked until fixed',
    throttle: { period: { hours: 1 } },
  },
  'warn:approval_identity_validation_skipped': {
    area: 'Approvals',
    description:
      'With the LDAP directory out of reach, the names of approvers were let through without a ' +
      'check',
    throttle: { period: { hours: 1 } },
  },

  // Workflows
  'api:workflows:create': { area: 'Workflows', description: 'A new workflow was set up' },
  'api:workflows:update': { area: 'Workflows', description: 'A workflow was altered' },
  'api:workflow_runs:create': { area: 'Workflows', description: 'A new workflow run was set up' },
  'api:workflow_runs:start': { area: 'Workflows', description: 'A workflow run got under way' },
  'api:workflow_runs:success': {
    area: 'Workflows',
    description: 'A workflow run ended with all of its steps having succeeded',
  },
  'api:workflow_runs:error': {
    area: 'Workflows',
    description: 'A failing step brought its workflow run to a halt',
  },
  'api:workflow_runs:cancel': {
    area: 'Workflows',
    description: 'A workflow run was called off by a cancellation',
  },
  'api:workflow_runs:abort': {
    area: 'Workflows',
    description: 'A workflow run was cut short by an abort',
  },
  'audit:workflow_runs:pause': {
    area: 'Workflows',
    description: 'Someone put a workflow run on hold while it ran, with a reason if one was given',
    data: ['message'],
  },
  'audit:workflow_runs:resume': {
    area: 'Workflows',
    description: 'Someone let a workflow run on hold go on, with a reason if one was given',
    data: ['message'],
  },
  'api:workflow_runs:destroy': { area: 'Workflows', description: 'A workflow run was removed' },
  'api:workflow_steps:start': { area: 'Workflows', description: 'A workflow step began to run' },
  'api:workflow_steps:approve': {
    area: 'Workflows',
    description: 'Approval was given to a workflow step',
  },
  'api:workflow_steps:reject': {
    area: 'Workflows',
    description: 'Approval was refused to a workflow step',
  },
  'api:workflow_steps:continue': {
    area: 'Workflows',
    description: 'A workflow step on hold was released to carry on',
  },
  'api:workflow_steps:success': {
    area: 'Workflows',
    description: 'A workflow step ended in success',
  },
  'api:workflow_steps:error': {
    area: 'Workflows',
    description: 'A workflow step ended in failure',
  },
  'api:workflow_steps:cancel': {
    area: 'Workflows',
    description: 'A workflow step was called off by a cancellation',
  },
  'api:workflow_steps:abort': {
    area: 'Workflows',
    description: 'A workflow step was cut short by an abort',
  },
  'error:workflow_step:fsm_failure': {
    area: 'Workflows',
    description: 'An error was thrown while a workflow step changed status',
    data: ['error', 'backtrace'],
  },
  'error:workflow_step:run_failure': {
    area: 'Workflows',
    description: 'An error was thrown while a workflow step was being run',
    data: ['error', 'backtrace'],
  },

  // Scheduled changes and workflows
  'api:scheduled_changes:create': {
    area: 'Scheduled changes and workflows',
    description: 'A change was put on a schedule',
  },
  'api:scheduled_changes:destroy': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled change was removed',
  },
  'api:scheduled_workflows:create': {
    area: 'Scheduled changes and workflows',
    description: 'A workflow was put on a schedule',
  },
  'api:scheduled_workflows:destroy': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled workflow was removed',
  },
  'api:scheduled_changes:change_creation:create': {
    area: 'Scheduled changes and workflows',
    description: 'The time set for a scheduled change arrived and work on making the change began',
  },
  'api:scheduled_changes:change_creation:success': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled change finished making its change',
  },
  'api:scheduled_workflows:workflow_run_creation:create': {
    area: 'Scheduled changes and workflows',
    description: 'The time set for a scheduled workflow arrived and work on making the run began',
  },
  'api:scheduled_workflows:workflow_run_creation:success': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled workflow finished making its run',
  },
  'error:scheduled_changes:change_creation': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled change failed to produce its change',
    data: ['error', 'backtrace'],
  },
  'error:scheduled_changes:git_sha': {
    area: 'Scheduled changes and workflows',
    description: 'No Git SHA could be found for a scheduled change, which therefore made no change',
    data: ['error', 'backtrace'],
  },
  'error:scheduled_workflows:workflow_run_creation': {
    area: 'Scheduled changes and workflows',
    description: 'A scheduled workflow failed to produce its run',
    data: ['error', 'backtrace'],
  },
  'warning:scheduled_activity:skipped': {
    area: 'Scheduled changes and workflows',
    description:
      'A scheduled workflow or change was passed over, its previous one still running and ' +
      'overlap being forbidden',
    throttle: { period: { hours: 1 } },
  },
  'warning:scheduled_changes:commit_file_patterns': {
    area: 'Scheduled changes and workflows',
    description:
      'A scheduled change had commit file patterns that failed to evaluate (it ran anyway) or ' +
      'never matched in its schedule',
    throttle: { period: { hours: 1 } },
  },

  // Projects, environments, assets, bookmarks
  'api:projects:create': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A new project was set up',
  },
  'api:projects:update': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A project was altered',
  },
  'api:projects:destroy': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A project was removed',
  },
  'api:nodes:create': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A new asset, agent or environment was set up',
  },
  'api:nodes:update': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'An asset, agent or environment was altered',
  },
  'api:nodes:destroy': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'An asset, agent or environment was removed',
  },
  'api:bookmarks:create': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A new bookmark was added',
  },
  'api:bookmarks:update': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A bookmark was altered',
  },
  'api:bookmarks:destroy': {
    area: 'Projects, environments, assets, bookmarks',
    description: 'A bookmark was removed',
  },

  // Properties and settings
  'api:properties:update': {
    area: 'Properties and settings',
    description: 'New values were given to properties',
  },
  'api:settings:update': {
    area: 'Properties and settings',
    description: 'New values were given to settings',
  },
  'info:maintenance_mode:enabled': {
    area: 'Properties and settings',
    description: 'Maintenance began: the global setting `maintenance_mode` was switched on',
  },
  'info:maintenance_mode:disabled': {
    area: 'Properties and settings',
    description: 'Maintenance ended: the global setting `maintenance_mode` was switched off',
  },
  'warn:settings:override': {
    area: 'Properties and settings',
    description:
      'A `<SERVICE>_OVERRIDE_` environment variable of the deployment took the place of a ' +
      'stored setting',
  },

  // Templates and template versions
  'api:templates:create': {
    area: 'Templates and template versions',
    description: 'A new template was set up',
  },
  'api:templates:update': {
    area: 'Templates and template versions',
    description: 'A template was altered',
  },
  'api:template_versions:update': {
    area: 'Templates and template versions',
    description: 'A version of a template was altered',
  },
  'api:action_refresh:warn': {
    area: 'Templates and template versions',
    description:
      'A changed template version could not renew the actions of an asset, which goes on with ' +
      'its old ones',
    data: ['error'],
  },
  'info:template_version:fetch_initialize': {
    area: 'Templates and template versions',
    description: 'A new template version joined the queue for its initial fetch',
  },
  'info:template_version:fetch': {
    area: 'Templates and template versions',
    description:
      'The Git fetch for a template version began; its output is added to this event while it runs',
    data: ['progress'],
    live: true,
  },
  'info:template_version:fetch_complete': {
    area: 'Templates and template versions',
    description: 'The Git fetch for a template version ended, successfully or not',
    data: ['success'],
  },
  'info:template_version:refresh_cancelled': {
    area: 'Templates and template versions',
    description: 'A running refresh of actions was called off',
  },
  'info:template_version:refresh_superseded': {
    area: 'Templates and template versions',
    description:
      'A revision refresh was cancelled or overtaken by a later one, so its outcome was set ' +
      'aside without any failure',
  },
  'warn:template_version:float_refresh_failed': {
    area: 'Templates and template versions',
    description:
      'A version tracking a Git revision failed to refresh; it stays on its commit and shows ' +
      'why until tracking resumes',
  },
  'error:template_version:fetch': {
    area: 'Templates and template versions',
    description: 'Fetching the Git repository of a template version failed',
    data: ['fetch_output', 'error', 'backtrace'],
  },
  'error:template_version:commit_verification': {
    area: 'Templates and template versions',
    description:
      'Checking the revision of a template version and the Git remote it comes from failed',
    data: ['error', 'backtrace'],
  },
  'error:template_version:broken': {
    area: 'Templates and template versions',
    description: 'A template version was flagged as broken, out of use until someone fixes it',
    data: ['error', 'backtrace'],
  },
  'error:template_version:build_agent_image': {
    area: 'Templates and template versions',
    description: 'No agent image could be built for a template version',
    data: ['error', 'backtrace'],
  },
  'error:template_version:refresh_actions': {
    area: 'Templates and template versions',
    description: 'Refreshing the actions of a template version failed',
    data: ['error', 'backtrace'],
  },
  'error:template_version:refresh_cancelled': {
    area: 'Templates and template versions',
    description: 'Calling off a running refresh of actions failed',
    data: ['error', 'backtrace'],
  },

  // Asset model generation
  'api:generate_actions_request:create': {
    area: 'Asset model generation',
    description: 'Generation of the actions of an asset was requested',
    data: ['trigger'],
  },
  'error:generate_actions_request:generate': {
    area: 'Asset model generation',
    description: 'Generating the requested actions of an asset failed',
    data: ['error', 'backtrace'],
  },
  'error:assetmodel:generate': {
    area: 'Asset model generation',
    description:
      'The outside model API failed to produce the model of an asset from the converged ' +
      'properties it was sent',
    data: ['error', 'converged_properties', 'backtrace'],
  },
  'error:assetmodel:derive_actions': {
    area: 'Asset model generation',
    description: 'No actions could be worked out from the model of an asset',
    data: ['error', 'backtrace'],
  },
  'error:assetmodel:actions_cache_not_persisted': {
    area: 'Asset model generation',
    description:
      'Caching the generated actions failed; until that is fixed they are made afresh on every use',
    data: ['error', 'backtrace'],
    throttle: { period: { hours: 1 } },
  },
  'error:asset_model_concretise_task:concretise': {
    area: 'Asset model generation',
    description: 'A task to concretise a model ended in failure',
    data: ['error', 'backtrace'],
  },
  'warn:assetmodel:actions_unavailable': {
    area: 'Asset model generation',
    description:
      'Generation went on without knowing the model actions, so `assetmodel_actions` gave ' +
      '`actions.rb` an empty catalogue',
    throttle: { period: { hours: 1 } },
  },

  // Agents
  'api:agent:start': {
    area: 'Agents',
    description:
      'The start of an agent was requested, which set up the task that makes its container',
  },
  'api:agent:started': { area: 'Agents', description: 'The container of an agent came up' },
  'api:agent:stop': {
    area: 'Agents',
    description:
      'The stop of an agent was requested, which set up the task that takes down its container',
  },
  'api:agent:stopped': { area: 'Agents', description: 'The container of an agent was gone' },
  'error:agent:start': {
    area: 'Agents',
    description: 'Making the container of an agent failed',
    data: ['error', 'backtrace'],
  },
  'error:agent:stop': {
    area: 'Agents',
    description: 'Taking down the container of an agent failed',
    data: ['error', 'backtrace'],
  },
  'warn:agent:image_missing': {
    area: 'Agents',
    description:
      'The site starting an agent had no image of it and is building one, after which the agent ' +
      'starts there by itself',
  },
  'error:build_agent_image_task:build': {
    area: 'Agents',
    description: 'The image of an agent failed to build',
    data: ['error', 'backtrace'],
  },

  // Image builds and registry
  'info:image_build:queued': {
    area: 'Image builds and registry',
    description:
      'A build was made to wait, as many image builds being under way as the configuration permits',
    data: ['queued_behind'],
  },
  'info:image_build:started': {
    area: 'Image builds and registry',
    description: 'The build of an image began',
  },
  'info:image_build:completed': {
    area: 'Image builds and registry',
    description: 'The build of an image ended in success',
  },
  'info:image_build:failed': {
    area: 'Image builds and registry',
    description: 'The build of an image ended in failure',
  },
  'warn:image_build:content_key_error': {
    area: 'Image builds and registry',
    description:
      'No key could be worked out to spot an equivalent image, so a new one was built instead',
  },
  'warn:image_build:required_check_error': {
    area: 'Image builds and registry',
    description:
      'Whether an image had to be built could not be settled, so it was built as a precaution',
  },
  'info:runner_base_image_warm:completed': {
    area: 'Image builds and registry',
    description: 'The build cache took in the base image of runners ahead of need',
    data: ['duration_seconds'],
  },
  'warn:runner_base_image_warm:failed': {
    area: 'Image builds and registry',
    description:
      'The build cache failed to take in the base image of runners, leaving the first build to ' +
      'wait for its download',
    throttle: { period: { hours: 1 } },
  },
  'info:registry_reconcile:summary': {
    area: 'Image builds and registry',
    description:
      'Images in the registry were compared with those in need, and the unused ones deleted',
  },
  'error:registry_reconcile:failure': {
    area: 'Image builds and registry',
    description: 'Comparing the images in the registry with those in need failed',
    data: ['error', 'backtrace'],
  },

  // Git remotes
  'api:git_remotes:create': { area: 'Git remotes', description: 'A new Git remote was set up' },
  'api:git_remotes:update': { area: 'Git remotes', description: 'A Git remote was altered' },
  'api:git_remotes:destroy': { area: 'Git remotes', description: 'A Git remote was removed' },
  'api:git_remote_pushes:create': {
    area: 'Git remotes',
    description:
      'A `git_clone` resource sent commits to a Git remote by way of the service; refused ' +
      'pushes leave no event',
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
    data: ['error', 'backtrace'],
  },
  'error:git_remote:update': {
    area: 'Git remotes',
    description: 'A Git remote gave no answer once it had been altered',
    data: ['error', 'backtrace'],
  },
  'error:git_remote:fetch': {
    area: 'Git remotes',
    description: 'A fetch from a Git remote failed',
    data: ['error', 'backtrace'],
  },
  'warn:git_remote:mountable_fetch_failed': {
    area: 'Git remotes',
    description:
      'A runner pod got a `git_clone` mirror that may be old or absent, as updating it from the ' +
      'remote beforehand failed',
    throttle: { period: { hours: 1 } },
  },
  'warn:git_remote:push_refresh_failed': {
    area: 'Git remotes',
    description:
      'A push from `git_clone` went through, but fetching the result back into the service failed',
    throttle: { period: { hours: 1 } },
  },
  'warn:git_remote:periodic_fetch:failed': {
    area: 'Git remotes',
    description:
      'A timed background fetch failed; more failures space out the retries, under ' +
      '`git_remote.periodic_fetch_interval`',
    throttle: { period: { hours: 1 } },
  },
  'info:git_remote:periodic_fetch:recovered': {
    area: 'Git remotes',
    description:
      'A background fetch worked again; the message tells how many had failed in a row before it',
    data: ['message'],
  },
  'info:git_remote:periodic_fetch:summary': {
    area: 'Git remotes',
    description:
      'Counts, stalest fetch and fetch times of all active remotes, subject to ' +
      '`git_remote.periodic_fetch_summary.enabled`',
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
    cadence: { days: 1 },
  },

  // Secrets
  'api:secrets:encrypt': {
    area: 'Secrets',
    description: 'The secret vault took in a value in encrypted form',
  },
  'api:secrets:resolve': {
    area: 'Secrets',
    description: 'A secret was taken from the vault and handed over in the clear',
  },
  'info:secret_vault_pod_roll:summary': {
    area: 'Secrets',
    description: 'Pods of the secret vault whose configuration was out of date were restarted',
  },
  'error:secret_vault_pod_roll:failure': {
    area: 'Secrets',
    description:
      'Pods of the secret vault with an out-of-date configuration could not be restarted',
    data: ['error', 'backtrace'],
  },

  // Authorisation
  'api:authorisation_policies:create': {
    area: 'Authorisation',
    description: 'A new authorisation policy was set up',
  },
  'api:authorisation_policies:update': {
    area: 'Authorisation',
    description: 'An authorisation policy was altered',
  },
  'api:authorisation_policies:destroy': {
    area: 'Authorisation',
    description: 'An authorisation policy was removed',
  },
  'api:authorisation_rules:create': {
    area: 'Authorisation',
    description: 'A new authorisation rule was set up',
  },
  'api:authorisation_rules:update': {
    area: 'Authorisation',
    description: 'An authorisation rule was altered',
  },
  'api:authorisation_rules:destroy': {
    area: 'Authorisation',
    description: 'An authorisation rule was removed',
  },
  'api:policy_assignments:create': {
    area: 'Authorisation',
    description: 'A user or group was given a policy',
  },
  'api:policy_assignments:destroy': {
    area: 'Authorisation',
    description: 'A policy was taken away from a user or group',
  },
  'api:policy_rules:create': { area: 'Authorisation', description: 'A policy gained a rule' },
  'api:policy_rules:destroy': { area: 'Authorisation', description: 'A policy lost a rule' },

  // Users and LDAP
  'api:ldap_refresh:user_start': {
    area: 'Users and LDAP',
    description: 'Cached users began to be refreshed from LDAP, with the search that was made',
    data: ['search_base', 'search_filter'],
  },
  'api:ldap_refresh:group_start': {
    area: 'Users and LDAP',
    description: 'Cached groups began to be refreshed from LDAP',
  },
  'api:ldap_refresh:success': {
    area: 'Users and LDAP',
    description: 'A refresh from LDAP ended well, with the number of entries it covered',
    data: ['entry_counts'],
  },
  'api:ldap_refresh:warn': {
    area: 'Users and LDAP',
    description: 'A refresh from LDAP ended with some trouble and altered nothing in the cache',
  },
  'api:ldap_refresh:error': {
    area: 'Users and LDAP',
    description:
      'A refresh from LDAP failed, or went so badly that outdated entries were dropped from the ' +
      'cache',
  },

  // Events and notifications
  'api:event_filter:error': {
    area: 'Events and notifications',
    description: 'An event filter failed to evaluate, leaving its subscribers without notice',
  },
  'api:event_subscriber:error': {
    area: 'Events and notifications',
    description: 'Notifying a subscriber failed',
    throttle: { period: { hours: 1 } },
  },
  'api:event_processor:error': {
    area: 'Events and notifications',
    description: 'Processing an event failed',
    throttle: { period: { hours: 1 } },
  },
  'api:notification:error': {
    area: 'Events and notifications',
    description: 'Delivering a notification failed',
    throttle: { period: { hours: 1 } },
  },
  'warn:notification_channel:disabled': {
    area: 'Events and notifications',
    description: 'A notice for a subscription was withheld, its channel being switched off',
    data: ['channel'],
    throttle: { period: { hours: 1 }, scope: ['channel'] },
  },
  'info:email:sent': {
    area: 'Events and notifications',
    description:
      'An email went out; its message id is kept along with who sent it, to whom and about what',
    data: ['sender', 'recipients', 'subject', 'message_id'],
    onlyWhile: 'log_email_events',
  },
  'error:email:send_failed': {
    area: 'Events and notifications',
    description:
      'An email failed to go out; the cause is kept along with who sent it, to whom and about what',
    data: ['error', 'sender', 'recipients', 'subject', 'backtrace'],
    onlyWhile: 'log_email_events',
  },

  // Data cleaning
  'info:data_cleanup:activities': {
    area: 'Data cleaning',
    description: 'A cleaning rule deleted workflow runs and changes that had ended',
    data: ['removed_count', 'filters'],
  },
  'info:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'A cleaning rule deleted old events',
  },
  'info:data_cleanup:jobs': {
    area: 'Data cleaning',
    description: 'A cleaning rule deleted the history of past jobs',
  },
  'info:data_cleanup:agent_images': {
    area: 'Data cleaning',
    description: 'A cleaning rule deleted agent images no longer in use',
  },
  'info:data_cleanup:node_background_tasks': {
    area: 'Data cleaning',
    description:
      'A cleaning rule deleted background tasks of nodes, logs included, that newer ones had ' +
      'replaced',
  },
  'info:data_cleanup:statistics': {
    area: 'Data cleaning',
    description:
      'A cleaning rule renewed the figures the query planner relies on, or left that to a site ' +
      'already at it',
    data: ['analyzed_tables', 'skipped_reason'],
  },
  'error:data_cleanup:activities': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to delete ended workflow runs and changes',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to delete old events',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:jobs': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to delete the history of past jobs',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:agent_images': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to delete unused agent images',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:node_background_tasks': {
    area: 'Data cleaning',
    description:
      'A cleaning rule failed to delete the replaced background tasks of nodes and their logs',
    data: ['error', 'backtrace'],
  },
  'error:data_cleanup:statistics': {
    area: 'Data cleaning',
    description: 'A cleaning rule failed to renew the figures the query planner relies on',
    data: ['error', 'backtrace'],
  },

  // Resource slots
  'warn:resource_slot_pool:full': {
    area: 'Resource slots',
    description: 'Work was left waiting, a pool of resource slots having none free',
    data: ['pool', 'configured_limit', 'cluster'],
    throttle: { period: { hours: 1 }, scope: ['cluster', 'pool'], periodStated: false },
  },
  'api:resource_slot_freed_listener:error': {
    area: 'Resource slots',
    description:
      'The listener for freed slots broke down, so work waiting for one runs later than it could',
  },

  // API autoscaler
  'info:api_autoscaler:grow': {
    area: 'API autoscaler',
    description: 'A lasting backlog of requests led to one more API worker',
  },
  'info:api_autoscaler:shrink': {
    area: 'API autoscaler',
    description: 'The backlog of requests was gone, which led to one API worker fewer',
  },
  'warn:api_autoscaler:grow_blocked_connections': {
    area: 'API autoscaler',
    description:
      'One more API worker was called for, but the database had too few connections left',
    throttle: { period: { minutes: 5 } },
  },
  'warn:api_autoscaler:grow_blocked_memory': {
    area: 'API autoscaler',
    description: 'One more API worker was called for, but its pod had too little memory left',
    throttle: { period: { minutes: 5 } },
  },
  'warn:api_autoscaler:worker_killed_memory': {
    area: 'API autoscaler',
    description:
      'A worker with double the memory of its peers or more in a nearly full pod was replaced, ' +
      'failing its requests (`dry_run` only notes it)',
    data: ['worker_rss', 'baseline_rss', 'container_anon', 'container_limit'],
  },
  'error:api_autoscaler:tick_failed': {
    area: 'API autoscaler',
    description: 'One of the regular evaluations of the autoscaler failed',
    data: ['error', 'backtrace'],
    throttle: { period: { minutes: 5 } },
  },

  // Sites and database clusters
  'info:database_cluster:registered': {
    area: 'Sites and database clusters',
    description: 'The database cluster of a site made its first appearance',
  },
  'info:database_cluster:role_changed': {
    area: 'Sites and database clusters',
    description: 'The database cluster of a site turned from primary to replica or the reverse',
  },
  'info:site:cordoned': {
    area: 'Sites and database clusters',
    description: 'A site was closed to new work, with the name of whoever closed it',
    data: ['cluster_name', 'cordon_reason', 'cordoned_by'],
  },
  'info:site:uncordoned': {
    area: 'Sites and database clusters',
    description: 'A closed site was opened to new work again',
  },

  // Platform and background jobs
  'error:api:controller:unhandled': {
    area: 'Platform and background jobs',
    description: 'An error that nothing had foreseen made an API request fail',
    data: ['request_method', 'request_path', 'error', 'backtrace'],
  },
  'api:job:error': {
    area: 'Platform and background jobs',
    description:
      'Putting a recurring job back in the queue failed, so it may miss its turn until it is ' +
      'next tried',
  },
  'error:logforwarder:log_failure': {
    area: 'Platform and background jobs',
    description:
      'The log aggregator failed to take step logs, which went to the database, complete but ' +
      'maybe slower to query',
    data: ['error', 'backtrace'],
  },
})
