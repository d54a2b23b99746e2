import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PROD, type Story } from './world.js'

const ASSETS = `/api${PROD}/assets`

/** Runs after the story of templates. */
export const assetModels: Story = async ({ post, patch, set, saw, temp }) => {
  let model: object = {}
  const api = createServer((_request, response) => response.end(JSON.stringify(model)))
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`
  const generate = (asset: string) =>
    post(`${ASSETS}/${asset}/generate_actions`, 'generate_actions_request', { trigger: 'user' })
  try {
    await post(ASSETS, 'asset', { code: 'plain' })
    await generate('plain')
    await saw('error:assetmodel:generate', { name: 'plain' })
    await saw('error:generate_actions_request:generate', { name: 'plain' })
    await set({ asset_model_url: url })
    await generate('plain')
    await saw('error:assetmodel:derive_actions', { name: 'plain' })
    await generate('web')
    await saw('warn:assetmodel:actions_unavailable', { name: 'Web server' })

    model = { actions: ['restart'] }
    await writeFile(temp.file('cache'), '')
    await set({ asset_model_cache: temp.file('cache') })
    await generate('plain')
    await saw('error:assetmodel:actions_cache_not_persisted', { name: 'plain' })
    await set({ asset_model_cache: '' })

    const concretise = () =>
      post(`${ASSETS}/plain/concretise`, 'asset_model', { model: 'disk of {disk_size}' })
    await concretise()
    await saw('error:asset_model_concretise_task:concretise', { name: 'plain' })
    await patch('/api/properties', 'properties', { disk_size: 20 })
    await concretise()
  } finally {
    api.closeAllConnections()
    await new Promise((resolve) => api.close(resolve))
  }
}
