// Pictures of the two cameras. One that comes while the last is being decoded replaces it.

const waiting = {};

export async function showPicture(name, data) {
  const busy = name in waiting;
  waiting[name] = data;
  if (busy) return;
  const canvas = document.getElementById(name);
  const context = canvas.getContext("2d");
  while (waiting[name]) {
    const next = waiting[name];
    waiting[name] = null;
    try {
      const picture = await createImageBitmap(new Blob([next]));
      if (canvas.width !== picture.width || canvas.height !== picture.height) {
        canvas.width = picture.width;
        canvas.height = picture.height;
      }
      context.drawImage(picture, 0, 0);
      picture.close();
      canvas.dataset.pictures = Number(canvas.dataset.pictures ?? 0) + 1;
    } catch (error) {
      console.warn(`a picture of ${name} cannot be decoded`, error);
    }
  }
  delete waiting[name];
}
