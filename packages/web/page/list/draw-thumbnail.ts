/** In pixels. */
const side = 320
/** In pixels: a file of some bytes may be an image of gigabytes. */
const largestArea = 64_000_000

/** Draws an image smaller. `<img>` runs no scripts, not even of SVG. */
export async function drawThumbnail(content: Blob): Promise<Blob | undefined> {
  const url = URL.createObjectURL(content)
  try {
    const image = new Image()
    await new Promise((resolve, reject) => {
      image.addEventListener('load', resolve)
      image.addEventListener('error', () => reject(new Error('This is no image')))
      image.src = url
    })
    const { naturalWidth: width, naturalHeight: height } = image
    if (width * height === 0 || width * height > largestArea) return undefined
    await image.decode()
    const scale = Math.min(1, side / Math.max(width, height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(width * scale))
    canvas.height = Math.max(1, Math.round(height * scale))
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((resolve) => {
      canvas.toBlob((picture) => resolve(picture ?? undefined), 'image/webp', 0.8)
    })
  } finally {
    URL.revokeObjectURL(url)
  }
}
