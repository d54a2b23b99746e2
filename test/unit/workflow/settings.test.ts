import { AuditLog, type EventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes, workflowEventTypesFor, type WorkflowSettings } from 'daybook/workflow'
import { describe, expect, it } from 'vitest'
import { errorWith } from '../errors.js'

const EMAIL = ['info:email:sent', 'error:email:send_failed'] as const
const SUMMARY = 'info:git_remote:periodic_fetch:summary'

describe('workflowEventTypesFor', () => {
  /** Records one event of each type that depends on a setting. Returns the stored types. */
  async function storedOf(types: typeof workflowEventTypes): Promise<string[]> {
    const audit = new AuditLog({ store: memoryStore(), types, strict: true })
    for (const type of [...EMAIL, SUMMARY] as const) await audit.record(type)
    const { events } = await audit.list()
    await audit.close()
    return events.map(({ type }) => type)
  }

  it.each<[WorkflowSettings, readonly string[]]>([
    [{}, [...EMAIL, SUMMARY]],
    [{ log_email_events: false }, [SUMMARY]],
    [{ log_email_events: true, 'git_remote.periodic_fetch_summary.enabled': false }, EMAIL],
    [{ 'git_remote.periodic_fetch_summary.enabled': () => false }, EMAIL],
    [(setting) => setting !== 'log_email_events', [SUMMARY]],
  ])('records only events that the settings allow (%#)', async (settings, stored) => {
    expect(await storedOf(workflowEventTypesFor(settings))).toEqual(stored)
  })

  it('reads the settings for each event', async () => {
    let isOn = false
    const types = workflowEventTypesFor({ log_email_events: () => isOn })
    await using audit = new AuditLog({ store: memoryStore(), types })
    expect(await audit.record('info:email:sent')).toBeUndefined()
    isOn = true
    expect(await audit.record('info:email:sent')).toBeDefined()
  })

  it('uses every setting of the catalogue, and workflowEventTypes uses none', async () => {
    const off = Object.entries<EventTypes[string]>(workflowEventTypesFor(() => false))
    const dependent = off.filter(([, { enabled }]) => enabled && !enabled()).map(([type]) => type)
    expect(dependent.toSorted()).toEqual([...EMAIL, SUMMARY].toSorted())
    expect(await storedOf(workflowEventTypes)).toEqual([...EMAIL, SUMMARY])
  })

  it.each([
    [{ log_emails: false }, 'workflowEventTypesFor has no option log_emails'],
    [{ log_email_events: 'no' }, 'log_email_events must be a boolean'],
    [undefined, 'workflowEventTypesFor takes an object with git_remote'],
  ])('refuses %j', (settings, message) => {
    expect(() => workflowEventTypesFor(settings as WorkflowSettings)).toThrow(
      errorWith('INVALID_OPTION', message),
    )
  })
})
