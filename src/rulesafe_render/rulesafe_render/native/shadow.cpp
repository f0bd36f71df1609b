// Shadow map: the nearest surfaces seen from the first directional light, which is infinitely far.
#include "raster.h"

namespace {

constexpr float EMPTY = -1e30f;
constexpr int MARGIN = 3;  // texels; a lookup in a block reads up to 2 texels around it

// Draw casters into a map and return the blocks that can have changed.
Box draw_casters(Renderer& r, bool moving, ShadowMap& map) {
    const int size = r.scene.shadow_size;
    Box box;
    for (int k = 0; k < r.scene.parts; ++k) {
        const Part& part = r.scene.part[k];
        if (!part.casts_shadow || (part.moves != 0) != moving) continue;
        float m[12];
        compose(r.scene.shadow, &r.poses[12 * part.link], m);
        transform(r, part, m);
        Floats low_x = all((float)size), high_x = all(0), low_y = low_x, high_y = high_x;
        for (int i = 0; i < part.vertices; i += LANES) {
            Floats x = clamp(load(&r.x[i]), 0, (float)(size - 1)), y = clamp(load(&r.y[i]), 0, (float)(size - 1));
            low_x = least(low_x, x), high_x = greatest(high_x, x);
            low_y = least(low_y, y), high_y = greatest(high_y, y);
        }
        for (int i = 0; i < LANES && part.vertices > 0; ++i) {
            box.include((int)low_x[i] / SHADOW_BLOCK, (int)low_y[i] / SHADOW_BLOCK);
            box.include((int)high_x[i] / SHADOW_BLOCK, (int)high_y[i] / SHADOW_BLOCK);
        }
        for (int t = part.first_triangle; t < part.first_triangle + part.triangles; ++t) {
            const int32_t* i = r.scene.corner + 3 * t;
            auto corner = [&](int n) { return Corner{r.x[i[n]], r.y[i[n]], -r.z[i[n]]}; };
            // Of a closed surface only the side that faces away: it does not shadow itself.
            scan<false>(corner(0), corner(2), corner(1), size, size, size, map.texels.data(), nullptr, 0,
                        r.ramp.data(), !part.double_sided, nullptr);
        }
    }
    return box;
}

// Compute the nearest and the farthest value in blocks and MARGIN texels around them: most lookups
// need no more. Also whether these texels differ from those of `before`.
void summarise(Renderer& r, ShadowMap& map, const ShadowMap& before, Box box) {
    const int size = r.scene.shadow_size, blocks = size / SHADOW_BLOCK;
    float *nearest = r.shadow_rows[0].data(), *farthest = r.shadow_rows[1].data();
    for (int row = std::max(0, box.y - 1); row <= std::min(blocks - 1, box.end_y + 1); ++row) {
        const int first = std::max(0, row * SHADOW_BLOCK - MARGIN), last = std::min(size, (row + 1) * SHADOW_BLOCK + MARGIN);
        const int left = std::max(0, box.x - 2) * SHADOW_BLOCK, right = std::min(blocks, box.end_x + 3) * SHADOW_BLOCK;
        for (int x = left; x < right; x += LANES) {
            Floats high = load(&map.texels[(size_t)first * size + x]), low = high;
            for (int y = first + 1; y < last; ++y) {
                Floats value = load(&map.texels[(size_t)y * size + x]);
                high = greatest(high, value), low = least(low, value);
            }
            store(nearest + x, high), store(farthest + x, low);
        }
        for (int column = std::max(0, box.x - 1); column <= std::min(blocks - 1, box.end_x + 1); ++column) {
            const int begin = std::max(0, column * SHADOW_BLOCK - MARGIN), end = std::min(size, (column + 1) * SHADOW_BLOCK + MARGIN);
            const int block = row * blocks + column;
            map.nearest[block] = *std::max_element(nearest + begin, nearest + end);
            map.farthest[block] = *std::min_element(farthest + begin, farthest + end);
            bool changed = false;
            for (int y = first; y < last && !changed; ++y) {
                const size_t at = (size_t)y * size;
                changed = std::memcmp(&map.texels[at + begin], &before.texels[at + begin], 4 * (end - begin)) != 0;
            }
            r.shadow_changed[block] = changed;
        }
    }
}

}  // namespace

void draw_shadows(Renderer& r) {
    if (r.scene.directional_lights == 0) return;
    const int size = r.scene.shadow_size, blocks = size / SHADOW_BLOCK;
    if (!r.shadow_kept) {
        std::fill(r.shadow_static.texels.begin(), r.shadow_static.texels.end(), EMPTY);
        draw_casters(r, false, r.shadow_static);
        summarise(r, r.shadow_static, r.shadow_static, {0, 0, blocks - 1, blocks - 1});
        r.shadow = r.shadow_static;
        r.shadow_moving = Box();
        r.shadow_kept = true;
    }
    Box& before = r.shadow_moving;
    for (int y = before.y * SHADOW_BLOCK; y < (before.end_y + 1) * SHADOW_BLOCK; ++y)
        std::copy_n(&r.shadow_static.texels[(size_t)y * size], size, &r.shadow.texels[(size_t)y * size]);
    Box now = draw_casters(r, true, r.shadow), both = now;
    both.include(before);
    summarise(r, r.shadow, r.shadow_static, both);
    r.shadow_changes.set(r.shadow_changed, blocks);
    before = now;
}
