import { randomUUID } from 'node:crypto'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { scriptOf } from '../children/child.js'
import type { Image } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'
import { contentKey, hasImage, removeUnused } from './registry.js'

type ImageService = Pick<Service, 'documents' | 'settings' | 'note' | 'children' | 'workspace'>

export interface Images {
  /** The directory of the image in the registry; undefined if it is not there. */
  find(image: Image): Promise<string | undefined>
  /** Builds the image unless an equivalent one exists. Rejects if the build fails. */
  build(image: Image): Promise<void>
  /** Removes the images that no recipe needs from the registry. */
  reconcile(): Promise<void>
  /** Copies the base image of runners into the build cache. */
  warm(): Promise<void>
}

/** The settings `image_registry`, `image_build_concurrency` and `runner_base_image` configure builds. */
export function createImages(service: ImageService): Images {
  const { documents, settings, note, children, workspace } = service
  const registry = (): string => settings.text('image_registry') || join(workspace, 'registry')
  const queue: (() => void)[] = []
  let running = 0
  let warmed: string | undefined

  const enter = async ({ name }: Image): Promise<void> => {
    if (running >= settings.number('image_build_concurrency', 1)) {
      const queued_behind = running + queue.length
      const turn = new Promise<void>((resolve) => queue.push(resolve))
      await note('info:image_build:queued', { name, queued_behind })
      await turn
    }
    running++
  }
  const leave = (): void => {
    running--
    queue.shift()?.()
  }

  const keyOf = (image: Image): Promise<string> =>
    contentKey(image).catch(async (error: unknown) => {
      await note('warn:image_build:content_key_error', { name: image.name, ...failureData(error) })
      return randomUUID()
    })

  const isBuilt = ({ name }: Image, key: string): Promise<boolean> =>
    hasImage(registry(), key).catch(async (error: unknown) => {
      await note('warn:image_build:required_check_error', { name, ...failureData(error) })
      return false
    })

  const run = async (image: Image, key: string): Promise<void> => {
    const { name, context, instructions } = image
    const directory = join(registry(), key)
    await note('info:image_build:started', { name })
    try {
      const order = JSON.stringify({ directory, name, context, instructions })
      await children.run(scriptOf('builder'), [order])
      await note('info:image_build:completed', { name })
    } catch (error) {
      await note('info:image_build:failed', { name, error: failureData(error).error })
      throw error
    }
  }

  return {
    async find({ key }) {
      const isThere = key !== null && (await hasImage(registry(), key).catch(() => false))
      return isThere ? join(registry(), key) : undefined
    },

    async build(image) {
      await enter(image)
      try {
        const key = await keyOf(image)
        if (!(await isBuilt(image, key))) await run(image, key)
        await documents.write((tx) => {
          if (documents.get('images', image.id)) tx.put('images', { ...image, key })
        })
      } finally {
        leave()
      }
    },

    async reconcile() {
      if (running > 0) return
      try {
        const needed = new Set(documents.all('images').flatMap(({ key }) => key ?? []))
        const removed_count = await removeUnused(registry(), needed)
        if (removed_count > 0) await note('info:registry_reconcile:summary', { removed_count })
      } catch (error) {
        await note('error:registry_reconcile:failure', failureData(error))
      }
    },

    async warm() {
      const source = settings.text('runner_base_image')
      if (source === '' || source === warmed) return
      const started = performance.now()
      try {
        const cache = join(workspace, 'build-cache')
        await mkdir(cache, { recursive: true })
        await copyFile(source, join(cache, 'runner-base'))
        warmed = source
        const duration_seconds = (performance.now() - started) / 1000
        await note('info:runner_base_image_warm:completed', { duration_seconds })
      } catch (error) {
        await note('warn:runner_base_image_warm:failed', failureData(error))
      }
    },
  }
}
