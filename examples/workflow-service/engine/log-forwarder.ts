import { randomUUID } from 'node:crypto'
import type { Step } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'

/** Sends the log of a step to the aggregator, or keeps it in the database. */
export type ForwardLog = (step: Step, text: string, facts: object) => Promise<void>

const TIMEOUT_MS = 2000

/** The setting `log_forwarder_url` is the URL of the aggregator. Without it, no logs are kept. */
export const createLogForwarder =
  ({ documents, settings, note }: Pick<Service, 'documents' | 'settings' | 'note'>): ForwardLog =>
  async (step, text, facts) => {
    const url = settings.text('log_forwarder_url')
    if (url === '') return
    try {
      const body = JSON.stringify({ step_id: step.id, text })
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const response = await fetch(url, { method: 'POST', body, signal })
      if (!response.ok) throw new Error(`the log aggregator returned ${response.status}`)
    } catch (error) {
      await documents.write((tx) =>
        tx.put('step_logs', { id: randomUUID(), step_id: step.id, text }),
      )
      await note('error:logforwarder:log_failure', { ...facts, ...failureData(error) })
    }
  }
