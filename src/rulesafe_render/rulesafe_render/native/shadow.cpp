// Shadow map: the nearest surfaces seen from the first directional light, which is infinitely far.
#include "raster.h"

namespace {

constexpr float NOTHING = -1e30f;
constexpr int BLOCK = 8, MARGIN = 3;  // texels; a lookup in a block reads up to 2 texels around it

void draw_casters(Renderer& r, bool moving, std::vector<float>& map) {
    const int size = r.scene.shadow_size;
    for (int k = 0; k < r.scene.parts; ++k) {
        const Part& part = r.scene.part[k];
        if (!part.casts_shadow || (part.moves != 0) != moving) continue;
        float m[12];
        compose(r.scene.shadow, &r.poses[12 * part.link], m);
        transform(r, part, m);
        for (int t = part.first_triangle; t < part.first_triangle + part.triangles; ++t) {
            const int32_t* i = r.scene.corner + 3 * t;
            auto corner = [&](int n) { return Corner{r.x[i[n]], r.y[i[n]], -r.z[i[n]]}; };
            // Of a closed surface only the side that faces away: it does not shadow itself.
            scan<false>(corner(0), corner(2), corner(1), size, size, size, map.data(), nullptr, 0,
                        r.ramp.data(), !part.double_sided, nullptr);
        }
    }
}

// The nearest and the farthest value in each block and MARGIN texels around it: most lookups need
// no more.
void summarise(Renderer& r) {
    const int size = r.scene.shadow_size, blocks = size / BLOCK;
    float *nearest = r.shadow_rows[0].data(), *farthest = r.shadow_rows[1].data();
    for (int row = 0; row < blocks; ++row) {
        int first = std::max(0, row * BLOCK - MARGIN), last = std::min(size - 1, (row + 1) * BLOCK + MARGIN - 1);
        for (int x = 0; x < size; x += LANES) {
            Floats high = load(&r.shadow[(size_t)first * size + x]), low = high;
            for (int y = first + 1; y <= last; ++y) {
                Floats value = load(&r.shadow[(size_t)y * size + x]);
                high = greatest(high, value), low = least(low, value);
            }
            store(nearest + x, high), store(farthest + x, low);
        }
        for (int column = 0; column < blocks; ++column) {
            int begin = std::max(0, column * BLOCK - MARGIN), end = std::min(size, (column + 1) * BLOCK + MARGIN);
            r.shadow_near[row * blocks + column] = *std::max_element(nearest + begin, nearest + end);
            r.shadow_far[row * blocks + column] = *std::min_element(farthest + begin, farthest + end);
        }
    }
}

}  // namespace

void draw_shadows(Renderer& r) {
    if (r.scene.directional_lights == 0) return;
    if (!r.shadow_kept) {
        std::fill(r.shadow_static.begin(), r.shadow_static.end(), NOTHING);
        draw_casters(r, false, r.shadow_static);
        r.shadow_kept = true;
    }
    r.shadow = r.shadow_static;
    draw_casters(r, true, r.shadow);
    summarise(r);
}
