import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Node } from '../model.js'
import { type EventName, failureData } from '../notes.js'
import { endOf, parentPathOf } from '../paths.js'
import type { Service } from '../service.js'
import { currentValues } from '../values.js'

const TIMEOUT_MS = 2000

export const assetFacts = ({ name, node_path }: Node) => ({
  name,
  parent: endOf(parentPathOf(node_path)),
  node_path,
})

/** The model that the API of the setting `asset_model_url` makes of the converged properties. */
async function requestModel({ settings }: Service, asset: Node, properties: object) {
  const url = settings.text('asset_model_url')
  if (url === '') throw new Error('the setting asset_model_url is empty')
  const body = JSON.stringify({ asset: asset.code, properties })
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { method: 'POST', body, signal })
  if (!response.ok) throw new Error(`the model API returned ${response.status}`)
  return (await response.json()) as { readonly actions?: unknown }
}

function actionsIn({ actions }: { readonly actions?: unknown }): string[] {
  if (!Array.isArray(actions)) throw new Error('the model has no list of actions')
  return actions.map(String)
}

async function cacheActions(service: Service, { id }: Node, actions: object): Promise<void> {
  const { settings, workspace } = service
  const directory = settings.text('asset_model_cache') || join(workspace, 'asset-models')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, `${id}.json`), JSON.stringify(actions))
}

/** The actions of the asset's model. Records what failed, then throws it. */
async function modelActions(service: Service, asset: Node): Promise<string[]> {
  const facts = assetFacts(asset)
  const recorded = async <T>(type: EventName, data: object, act: () => Promise<T>): Promise<T> => {
    try {
      return await act()
    } catch (error) {
      await service.note(type, { ...facts, ...data, ...failureData(error) })
      throw error
    }
  }
  const converged_properties = currentValues(service.documents, 'properties').values
  const model = await recorded('error:assetmodel:generate', { converged_properties }, () =>
    requestModel(service, asset, converged_properties),
  )
  const actions = await recorded('error:assetmodel:derive_actions', {}, () =>
    Promise.resolve().then(() => actionsIn(model)),
  )
  // Without the cache they are generated again each time.
  await recorded('error:assetmodel:actions_cache_not_persisted', {}, () =>
    cacheActions(service, asset, actions),
  ).catch(() => {})
  return actions
}

/** Generates the actions of an asset: those of its model, and those of its template version. */
export async function generateActions(
  service: Service,
  asset: Node,
  username: string,
): Promise<void> {
  const { documents, note } = service
  const facts = assetFacts(asset)
  const version = documents.get('template_versions', asset.template_version_id ?? '')
  try {
    const fromModel = await modelActions(service, asset).catch(async (error: unknown) => {
      // A template that reads the actions of the model goes on without them.
      if (!version?.reads_model) throw error
      await note('warn:assetmodel:actions_unavailable', { ...facts, ...failureData(error) })
      return []
    })
    const actions = [...(version?.actions ?? []), ...fromModel]
    await documents.write((tx) => tx.put('nodes', { ...asset, actions }))
  } catch (error) {
    const failure = { ...facts, ...failureData(error) }
    await note('error:generate_actions_request:generate', failure, username)
  }
}

/** Replaces `{property}` in a model by the asset's properties. */
export async function concretise(
  { documents, note }: Service,
  asset: Node,
  model: string,
  username: string,
): Promise<void> {
  const { values } = currentValues(documents, 'properties')
  try {
    const concrete = model.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (values[name] === undefined) throw new Error(`the property ${name} is missing`)
      return String(values[name])
    })
    await documents.write((tx) => tx.put('nodes', { ...asset, model: concrete }))
  } catch (error) {
    const failure = { ...assetFacts(asset), ...failureData(error) }
    await note('error:asset_model_concretise_task:concretise', failure, username)
  }
}
