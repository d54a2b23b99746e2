import type { Activity } from '../model.js'
import type { Service } from '../service.js'
import { activityFacts, stepsOf } from './context.js'
import { moveActivity, moveStep } from './transitions.js'

/** Starts an incomplete change again; steps that succeeded are not repeated. */
export async function retryChange(
  service: Service,
  id: string,
  options: { readonly latest: boolean; readonly username: string },
): Promise<{ readonly change: Activity; readonly afterwards: () => Promise<void> }> {
  const { documents, note, changes, settings } = service
  const { latest, username } = options
  const { names } = changes.context
  const known = settings.all().values
  const { change, dropped } = await documents.write((tx) => {
    const present = changes.activity(id)
    const entries = Object.entries(present.settings ?? {})
    const valid = entries.filter(([name]) => name in known)
    const change: Activity = {
      ...present,
      status: moveActivity(present.status, 'retry'),
      settings: Object.fromEntries(valid),
      owner: documents.processId,
      finished_at: null,
    }
    tx.put('changes', change)
    for (const step of stepsOf(changes.context, present))
      if (step.status !== 'success')
        tx.put('steps', { ...step, status: moveStep(step.status, 'retry'), error: null })
    const dropped = entries.map(([name]) => name).filter((name) => !(name in known))
    return { change, dropped }
  })
  const facts = activityFacts(names, change)
  const afterwards = async (): Promise<void> => {
    if (dropped.length > 0)
      await note(
        'api:changes:retry_settings_pruned',
        { ...facts, dropped_settings: dropped },
        username,
      )
    if (latest) await checkCatalog(service, change, username)
    await changes.run(id)
  }
  return { change, afterwards }
}

/** Records that a retry asked for the newest revision, whose actions are not available. */
async function checkCatalog(service: Service, change: Activity, username: string): Promise<void> {
  const { documents, note, changes } = service
  const version = documents.get('template_versions', change.template_version_id ?? '')
  const { action } = change
  const isAvailable =
    version?.status === 'success' && (action === null || version.actions.includes(action))
  if (isAvailable) return
  const facts = activityFacts(changes.context.names, change)
  const catalog = {
    action,
    template_version: version?.revision ?? null,
    catalog_request_status: version?.status ?? 'missing',
  }
  await note('warn:changes:catalog_not_refreshed', { ...facts, ...catalog }, username)
}
