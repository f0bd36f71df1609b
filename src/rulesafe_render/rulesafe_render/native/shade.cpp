// Shading pass, once per pixel: surface, ambient occlusion, light, tone mapping. In the image of a
// fixed camera only tiles whose light can have changed are computed again; the visibility of the
// sun, which depends on the whole scene, is looked up at each pixel.
#include <algorithm>

#include "light.h"

namespace {

constexpr float OCCLUSION_RADIUS = 0.09f;  // m
constexpr int OCCLUSION_SAMPLES = 6;
constexpr float OUTERMOST = (OCCLUSION_SAMPLES - 0.5f) / OCCLUSION_SAMPLES;  // sample, in radii
constexpr float MAX_RADIUS = 0.2f;  // of the occlusion, fraction of the image's height

// Samples lie on a spiral: cosines and sines of 0, 2.39996, 4.79992 ... rad.
constexpr float SPIRAL[OCCLUSION_SAMPLES][2] = {{1.0f, 0.0f},
                                                {-0.737368703f, 0.675490265f},
                                                {0.0874252f, -0.99617109f},
                                                {0.608439595f, 0.793600145f},
                                                {-0.984713665f, -0.174180978f},
                                                {0.843754419f, -0.536729522f}};
constexpr float HALF_ROOT = 0.70710678f;  // it is rotated by an eighth of a turn in blocks of 2x2 pixels

// The samples of the pixels in even [0] and odd [1] rows, in radii. It is computed by the compiler:
// loading a library must not execute instructions before `render_supported` is called.
struct Spiral {
    alignas(64) float x[2][OCCLUSION_SAMPLES][LANES] = {}, y[2][OCCLUSION_SAMPLES][LANES] = {};

    constexpr Spiral() {
        for (int row = 0; row < 2; ++row)
            for (int k = 0; k < OCCLUSION_SAMPLES; ++k)
                for (int lane = 0; lane < LANES; ++lane) {
                    float a = SPIRAL[k][0], b = SPIRAL[k][1], along = (k + 0.5f) / OCCLUSION_SAMPLES;
                    for (int turns = (lane & 1) * 2 + row; turns > 0; --turns) {
                        float turned = (a - b) * HALF_ROOT;
                        b = (a + b) * HALF_ROOT, a = turned;
                    }
                    x[row][k][lane] = a * along, y[row][k][lane] = b * along;
                }
    }
};
constexpr Spiral spiral;

int occlusion_tiles(const View& view, float nearest_q) {
    if (!(nearest_q > 0)) return 0;
    float radius = std::min(view.camera.focal * OCCLUSION_RADIUS * nearest_q, MAX_RADIUS * view.camera.height);
    return (int)(radius * OUTERMOST + 1) / TILE + 1;
}

// Find the plane of all surfaces of a tile, and how far occlusion reaches.
void analyse_tile(View& view, int column, int row) {
    const int tile = row * view.tiles_x + column;
    const int end = std::min((row + 1) * TILE, view.camera.height);
    float nearest = 0;
    uint32_t before = 0;
    int plane = 0;
    for (int y = row * TILE; y < end; ++y)
        for (int x = column * TILE; x < (column + 1) * TILE; ++x) {
            const size_t at = (size_t)y * view.stride + x;
            nearest = std::max(nearest, view.q[at]);
            const uint32_t number = view.triangle[at];
            if (number == before || number == 0) continue;
            before = number;
            const int here = view.triangles[number].plane;
            plane = plane == 0 || plane == here ? here : -1;
        }
    view.planes[tile] = plane;
    view.reach[tile] = plane ? occlusion_tiles(view, nearest) : 0;
}

bool shows_moving(const View& view, int column, int row) {
    const int end = std::min((row + 1) * TILE, view.camera.height);
    Ints moving = {};
    for (int y = row * TILE; y < end; ++y)
        for (int x = column * TILE; x < (column + 1) * TILE; x += LANES) {
            Ints number;
            std::memcpy(&number, &view.triangle[(size_t)y * view.stride + x], sizeof number);
            moving |= number >= (int32_t)view.kept_triangles;
        }
    return any(moving);
}

// Decide per tile what has to be computed. Tiles of a fixed camera need nothing if neither moving
// parts nor changes of the shadow map are near.
void plan(const Renderer& r, View& view) {
    const int count = view.tiles_x * view.tiles_y;
    view.planes = view.kept_planes, view.reach = view.kept_reach;
    view.planes.resize(count), view.reach.resize(count);
    view.moved.assign(count, 1);
    for (int row = 0; row < view.tiles_y; ++row)
        for (int column = 0; column < view.tiles_x; ++column) {
            if (view.kept && !shows_moving(view, column, row))
                view.moved[row * view.tiles_x + column] = 0;
            else
                analyse_tile(view, column, row);
        }
    view.moved_count.set(view.moved, view.tiles_x);
    view.work.assign(count, NOTHING);
    view.planes_near = view.planes;
    for (int row = 0; row < view.tiles_y; ++row)
        for (int column = 0; column < view.tiles_x; ++column) {
            const int tile = row * view.tiles_x + column, reach = view.reach[tile], plane = view.planes[tile];
            const int left = std::max(0, column - reach), right = std::min(view.tiles_x - 1, column + reach);
            const int top = std::max(0, row - reach), bottom = std::min(view.tiles_y - 1, row + reach);
            if (!view.moved_count.within(left, top, right, bottom)) {
                const Box& box = view.kept_shadow[tile];
                if (box.end_x >= 0 && r.shadow_changes.within(box.x, box.y, box.end_x, box.end_y))
                    view.work[tile] = SHADOW;
                continue;
            }
            view.work[tile] = ALL;
            for (int y = top; y <= bottom && view.planes_near[tile] >= 0; ++y)
                for (int x = left; x <= right; ++x) {
                    const int there = view.planes[y * view.tiles_x + x];
                    if (there && there != plane) view.planes_near[tile] = -1;
                }
        }
    view.work_count.set(view.work, view.tiles_x);
}

// Compute the attributes of a triangle over depth, linear in the image.
void prepare(const Renderer& r, const View& view, Triangle& t) {
    const Scene& s = r.scene;
    const float* pose = &r.poses[12 * s.part[t.part].link];
    float value[3][5];
    for (int k = 0; k < 3; ++k) {
        float given[5];
        if (t.clipped) {
            std::memcpy(given, &view.clipped_corners[(size_t)t.corner[k] * 5], sizeof given);
        } else {
            const int i = t.corner[k];
            const float attributes[5] = {s.nx[i], s.ny[i], s.nz[i], s.u[i], s.v[i]};
            std::memcpy(given, attributes, sizeof given);
        }
        for (int row = 0; row < 3; ++row)
            value[k][row] = pose[4 * row] * given[0] + pose[4 * row + 1] * given[1] + pose[4 * row + 2] * given[2];
        value[k][3] = given[3], value[k][4] = given[4];
        for (float& each : value[k]) each *= t.corner_q[k];
    }
    for (int i = 0; i < 5; ++i) {
        float along_u = value[1][i] - value[0][i], along_v = value[2][i] - value[0][i];
        float* linear = i < 3 ? t.normal[i] : t.texture[i - 3];
        linear[0] = value[0][i];
        linear[1] = along_u * t.u[0] + along_v * t.v[0];
        linear[2] = along_u * t.u[1] + along_v * t.v[1];
    }
    t.prepared = true;
}

// log2(x) / 2 for x > 0 with an error of 0.005: exponent, and a parabola for the mantissa.
float half_log2(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    float mantissa = (float)(bits & 0x7fffff) * (1.f / 0x800000);
    return 0.5f * ((float)((int)(bits >> 23) - 127) + mantissa * (4 - mantissa) * (1.f / 3));
}

// Add the colour of a level at a place (0..1), interpolated between four texels, times a weight.
void add_texel(const Renderer& r, const Texture& texture, int level, float u, float v, float weight, float* color) {
    int width = texture.width, height = texture.height;
    size_t first = texture.first_texel;
    for (; level > 0; --level) {
        first += (size_t)width * height;
        width = std::max(1, width / 2), height = std::max(1, height / 2);
    }
    float x = u * width - 0.5f + width, y = v * height - 0.5f + height;
    int column = (int)x, row = (int)y;
    float share_x = x - column, share_y = y - row;
    for (int k = 0; k < 4; ++k) {
        const int at_x = (column + (k & 1)) % width, at_y = (row + (k >> 1)) % height;
        const uint8_t* texel = r.scene.texel + 4 * (first + (size_t)at_y * width + at_x);
        float part = weight * (k & 1 ? share_x : 1 - share_x) * (k >> 1 ? share_y : 1 - share_y);
        for (int channel = 0; channel < 3; ++channel) color[channel] += part * texture.linear[texel[channel]];
    }
}

// The colour of a texture at a pixel with depth z and offset (dx, dy) from the triangle's first
// corner, interpolated between the levels that fit the pixel's size.
void sample_texture(const Renderer& r, const Texture& texture, const Triangle& t, float dx, float dy, float z,
                    float* color) {
    float place[2], change_x[2], change_y[2];
    for (int i = 0; i < 2; ++i) {
        const float* a = t.texture[i];
        place[i] = (a[0] + a[1] * dx + a[2] * dy) * z;
        change_x[i] = (a[1] - place[i] * t.slope_q[0]) * z;
        change_y[i] = (a[2] - place[i] * t.slope_q[1]) * z;
        // Textures repeat. An extreme place, of a triangle seen from its edge, gets the origin.
        float whole = place[i] > -1e6f && place[i] < 1e6f ? (float)(int)place[i] : place[i];
        place[i] -= whole;
        if (!(place[i] > -1 && place[i] < 1)) place[i] = 0;
        if (place[i] < 0) place[i] += 1;
    }
    const float w = (float)texture.width, h = (float)texture.height;
    float square_x = change_x[0] * change_x[0] * (w * w) + change_x[1] * change_x[1] * (h * h);
    float square_y = change_y[0] * change_y[0] * (w * w) + change_y[1] * change_y[1] * (h * h);
    float level = half_log2(std::max(std::max(square_x, square_y), 1.f));
    level = std::min(level, (float)(texture.levels - 1));
    if (!(level > 0)) level = 0;
    const int whole = (int)level;
    const float share = level - whole;
    color[0] = color[1] = color[2] = 0;
    add_texel(r, texture, whole, place[0], place[1], 1 - share, color);
    if (share > 0) add_texel(r, texture, whole + 1, place[0], place[1], share, color);
}

// Properties of the surfaces at LANES pixels of a row.
struct Pixels {
    Vectors normal = {all(0), all(0), all(1)}, color = {};
    Floats roughness = all(1), metallic = all(0);

    Pixels(const Renderer& r, View& view, int x, int y) {
        const uint32_t* number = &view.triangle[(size_t)y * view.stride + x];
        for (int begin = 0, end; begin < LANES; begin = end) {
            for (end = begin + 1; end < LANES && number[end] == number[begin];) ++end;
            if (number[begin] != 0) fill(r, view, view.triangles[number[begin]], x, y, begin, end);
        }
    }

    void fill(const Renderer& r, View& view, Triangle& t, int x, int y, int begin, int end) {
        if (!t.prepared) prepare(r, view, t);
        const Material& material = r.scene.material[r.scene.part[t.part].material];
        const Floats lane = load(&r.ramp[0]), dx = load(&r.ramp[x]) - t.x;
        const float dy = y - t.y;
        const Ints run = (lane >= (float)begin) & (lane < (float)end);
        auto at = [&](const float* a) { return a[0] + a[1] * dx + a[2] * dy; };
        normal = choose(run, Vectors{at(t.normal[0]), at(t.normal[1]), at(t.normal[2])}, normal);
        Vectors here = all_three(material.color);
        if (material.texture >= 0) {
            float texel[3][LANES] = {};
            for (int i = begin; i < end; ++i) {
                float c[3], depth = view.depth[(size_t)y * view.stride + x + i];
                sample_texture(r, r.scene.texture[material.texture], t, dx[i], dy, depth, c);
                for (int k = 0; k < 3; ++k) texel[k][i] = c[k];
            }
            here = Vectors{load(texel[0]), load(texel[1]), load(texel[2])} * here;
        }
        color = choose(run, here, color);
        roughness = choose(run, all(material.roughness), roughness);
        metallic = choose(run, all(material.metallic), metallic);
    }
};

// Visible fraction of the indirect light (ambient occlusion) at surfaces with positions and normals
// in the optical frame.
Floats openness(const View& view, int x, int y, Vectors position, Vectors normal) {
    const Camera& camera = view.camera;
    const float inverse_focal = 1 / camera.focal;
    Floats radius = camera.focal * OCCLUSION_RADIUS / greatest(position.z, all(1e-3f));
    Ints large = (position.z > 0) & (radius >= 1.5f);
    if (!any(large)) return all(1);
    radius = least(radius, all(MAX_RADIUS * camera.height));
    Floats columns = all((float)x), occlusion = all(0);
    for (int i = 0; i < LANES; ++i) columns[i] += (float)i;
    for (int k = 0; k < OCCLUSION_SAMPLES; ++k) {
        Floats there_x = columns + floor_of(load(spiral.x[y & 1][k]) * radius + 0.5f);
        Floats there_y = (float)y + floor_of(load(spiral.y[y & 1][k]) * radius + 0.5f);
        there_x = clamp(there_x, 0, (float)(camera.width - 1));
        there_y = clamp(there_y, 0, (float)(camera.height - 1));
        Floats z = gather(view.depth.data(), to_ints(there_y) * view.stride + to_ints(there_x));
        Vectors offset = Vectors{(there_x - camera.center_x) * inverse_focal * z,
                                 (there_y - camera.center_y) * inverse_focal * z, z} - position;
        Floats square = dot(offset, offset);
        Floats near = greatest(1 - square * (1 / (OCCLUSION_RADIUS * OCCLUSION_RADIUS)), all(0));
        Floats rise = greatest(dot(offset, normal) - 0.005f * position.z, all(0));
        occlusion += choose(z > 0, near * rise * rough_inverse_root(square + 1e-6f), all(0));
    }
    Floats open = clamp(1 - (2.2f / OCCLUSION_SAMPLES) * occlusion, 0, 1);
    return choose(large, open, all(1));
}

// Light at LANES pixels of a row without the sun, of the sun if nothing hides it, and the place in
// the shadow map.
struct Light {
    Vectors base, sun, place;

    void keep(std::vector<float>* arrays, size_t at) const {
        const Floats* values[9] = {&base.x, &base.y, &base.z, &sun.x, &sun.y, &sun.z, &place.x, &place.y, &place.z};
        for (int i = 0; i < 9; ++i) store(&arrays[i][at], *values[i]);
    }
    void recall(const std::vector<float>* arrays, size_t at) {
        Floats* values[9] = {&base.x, &base.y, &base.z, &sun.x, &sun.y, &sun.z, &place.x, &place.y, &place.z};
        for (int i = 0; i < 9; ++i) *values[i] = load(&arrays[i][at]);
    }
};

Vectors rotated(const float* pose, Vectors v) {
    return {v.x * pose[0] + v.y * pose[1] + v.z * pose[2], v.x * pose[4] + v.y * pose[5] + v.z * pose[6],
            v.x * pose[8] + v.y * pose[9] + v.z * pose[10]};
}

// Rays through the centres of LANES pixels of a row, in the optical frame, of depth 1.
Vectors rays(const Renderer& r, const Camera& camera, int x, int y) {
    const float inverse_focal = 1 / camera.focal;
    return {(load(&r.ramp[x]) - camera.center_x) * inverse_focal, all(((float)y - camera.center_y) * inverse_focal),
            all(1)};
}

Light compute_light(const Renderer& r, View& view, int x, int y, bool occluded) {
    const Scene& scene = r.scene;
    const float* pose = view.world;
    const Vectors ray = rays(r, view.camera, x, y);
    const Floats z = load(&view.depth[(size_t)y * view.stride + x]);
    Vectors in_camera = ray * z;
    Pixels pixels(r, view, x, y);
    Surface s;
    s.position = rotated(pose, in_camera) + Vectors{all(pose[3]), all(pose[7]), all(pose[11])};
    s.normal = unit(pixels.normal);
    s.view = unit(-rotated(pose, ray));
    s.roughness = clamp(pixels.roughness, 0.05f, 1);
    const Floats metallic = pixels.metallic;
    const Vectors color = pixels.color;
    s.diffuse = color * (1 - metallic);
    s.specular = {mix(all(0.04f), color.x, metallic), mix(all(0.04f), color.y, metallic),
                  mix(all(0.04f), color.z, metallic)};
    Floats cosine = dot(s.normal, s.view);
    Floats side = choose(cosine < 0, all(-1), all(1));
    s.normal = s.normal * side;
    cosine = cosine * side;
    s.normal_view = greatest(cosine, all(1e-3f));

    Floats open = all(1);
    if (occluded) {
        const float turned[12] = {pose[0], pose[4], pose[8], 0, pose[1], pose[5], pose[9], 0,
                                  pose[2], pose[6], pose[10], 0};
        open = openness(view, x, y, in_camera, rotated(turned, s.normal));
    }
    Vectors mirrored = s.normal * (cosine + cosine) - s.view;
    Light light;
    light.base = s.diffuse * room_light(s.normal, all(1), scene.ambient) * open +
                 even_reflectance(s) * room_light(mirrored, s.roughness, scene.ambient) * (0.3f + 0.7f * open);
    light.sun = Vectors{};
    for (int i = 0; i < scene.directional_lights; ++i) {
        const DirectionalLight& lamp = scene.directional_light[i];
        Vectors part = reflected(s, all_three(lamp.direction)) * all_three(lamp.color);
        if (i == 0)
            light.sun = part;
        else
            light.base = light.base + part;
    }
    for (int i = 0; i < scene.point_lights; ++i) {
        Vectors offset = all_three(scene.point_light[i].position) - s.position;
        Floats square = greatest(dot(offset, offset), all(1e-4f));
        light.base = light.base + reflected(s, unit(offset)) * all_three(scene.point_light[i].color) * (1 / square);
    }
    light.place = in_shadow_map(scene, s);
    Ints nothing = z <= 0;
    if (any(nothing)) {
        light.base = choose(nothing, room_light(-s.view, all(1), scene.ambient) * all(1.2f), light.base);
        light.sun = choose(nothing, Vectors{}, light.sun);
    }
    return light;
}

// Tone mapping by the table of the brightness.
void show(const Renderer& r, View& view, size_t at, Vectors color) {
    const Floats channels[3] = {color.x, color.y, color.z};
    Ints index[3];
    for (int k = 0; k < 3; ++k)
        index[k] = ((Ints)clamp(channels[k], 1.f / 4096, 15.9f) - DARKEST) >> DISPLAY_SHIFT;
    for (int i = 0; i < LANES; ++i) {
        uint8_t* pixel = &view.lit[4 * (at + i)];
        for (int k = 0; k < 3; ++k) pixel[k] = r.display[index[k][i]];
        pixel[3] = 255;
        view.luma[at + i] = (uint8_t)((pixel[0] * 77 + pixel[1] * 150 + pixel[2] * 29 + 128) >> 8);
    }
}

}  // namespace

void shade(Renderer& r, View& view, bool keep) {
    const Camera& camera = view.camera;
    const int size = r.scene.shadow_size;
    const Floats farthest = all(1 / camera.far);
    for (size_t i = 0; i < view.q.size() - PADDING; i += LANES) {
        Floats q = load(&view.q[i]);
        store(&view.depth[i], choose(q > farthest, 1 / q, all(0)));
    }
    plan(r, view);
    if (keep) {
        view.kept_planes = view.planes, view.kept_reach = view.reach;
        view.kept_shadow.assign(view.planes.size(), Box());
    }
    const ShadowMap& map = keep ? r.shadow_static : r.shadow;
    for (int y = 0; y < camera.height; ++y) {
        const int tiles = (y / TILE) * view.tiles_x;
        for (int x = 0; x < view.stride; x += LANES) {
            const size_t at = (size_t)y * view.stride + x;
            const int tile = tiles + x / TILE;
            if (view.work[tile] == NOTHING) continue;
            Light light;
            if (view.work[tile] == ALL) {
                light = compute_light(r, view, x, y, view.planes_near[tile] < 0);
            } else {
                light.recall(view.kept_light, at);
            }
            Ints sunny = (light.sun.x > 0) | (light.sun.y > 0) | (light.sun.z > 0);
            if (keep) {
                light.keep(view.kept_light, at);
                Ints looked_up = sunny & within_shadow_map(light.place, size);
                for (int i = 0; i < LANES; ++i)
                    if (looked_up[i])
                        view.kept_shadow[tile].include((int)light.place.x[i] / SHADOW_BLOCK, (int)light.place.y[i] / SHADOW_BLOCK);
            }
            Floats visible = any(sunny) ? visibility(map, size, light.place, sunny) : all(1);
            show(r, view, at, light.base + light.sun * visible);
        }
    }
}

void locate(const Renderer& r, const View& view, float* positions, uint16_t* links) {
    const Camera& camera = view.camera;
    for (int y = 0; y < camera.height; ++y)
        for (int x = 0; x < camera.width; x += LANES) {
            const size_t at = (size_t)y * view.stride + x, to = (size_t)y * camera.width + x;
            Vectors p = rotated(view.world, rays(r, camera, x, y) * load(&view.depth[at]));
            for (int i = 0; i < std::min(LANES, camera.width - x); ++i) {
                float* position = positions + 3 * (to + i);
                position[0] = p.x[i] + view.world[3], position[1] = p.y[i] + view.world[7];
                position[2] = p.z[i] + view.world[11];
                const uint32_t number = view.triangle[at + i];
                links[to + i] = number ? (uint16_t)(r.scene.part[view.triangles[number].part].link + 1) : 0;
            }
        }
}
